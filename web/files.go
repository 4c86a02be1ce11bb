package web

import (
	"context"
	"encoding/hex"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

type filesInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Leg  int    `query:"leg" minimum:"0" maximum:"10000" default:"0" doc:"leg, from 0, as in BOURSE_LEG"`
	Path string `query:"path" maxLength:"1024" doc:"list only this folder, or this file"`
}

type filesOutput struct{ Body api.WorkFiles }

// files lists the files of a leg's work, from its cluster.
func (s *jobs) files(ctx context.Context, in *filesInput) (*filesOutput, error) {
	id, r, err := s.reads(ctx, in.ID, in.Leg, grid.Source{What: grid.ReadList, Path: in.Path}, 0)
	if err != nil {
		return nil, err
	}
	out := &filesOutput{api.WorkFiles{ID: id, Site: r.Site, Leg: in.Leg, Found: r.Size, Files: []api.WorkFile{}}}
	for _, f := range r.Files {
		out.Body.Files = append(out.Body.Files, api.WorkFile{Path: f.Path, Size: f.Size, Changed: api.Instant(f.At)})
	}
	return out, nil
}

type fileInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Leg  int    `query:"leg" minimum:"0" maximum:"10000" default:"0" doc:"leg, from 0, as in BOURSE_LEG"`
	Path string `query:"path" required:"true" maxLength:"1024" doc:"path of the file in the folder"`
	From int64  `query:"from" minimum:"0" default:"0" doc:"first byte"`
}

// file answers with a piece of a file of a leg's work, from its cluster.
func (s *jobs) file(ctx context.Context, in *fileInput) (*jobOutputOutput, error) {
	id, r, err := s.reads(ctx, in.ID, in.Leg, grid.Source{What: grid.ReadFile, Path: in.Path}, in.From)
	if err != nil {
		return nil, err
	}
	return &jobOutputOutput{api.JobOutput{ID: id, Site: r.Site, Leg: in.Leg, From: r.From, Size: r.Size, Data: r.Data, Over: r.Over}}, nil
}

type digestInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Leg  int    `query:"leg" minimum:"0" maximum:"10000" default:"0" doc:"leg, from 0, as in BOURSE_LEG"`
	Path string `query:"path" required:"true" maxLength:"1024" doc:"path of the file in the folder"`
}

type digestOutput struct{ Body api.WorkDigest }

// digest answers with the digest of a file of a leg's work, from its cluster.
func (s *jobs) digest(ctx context.Context, in *digestInput) (*digestOutput, error) {
	id, r, err := s.reads(ctx, in.ID, in.Leg, grid.Source{What: grid.ReadDigest, Path: in.Path}, 0)
	if err != nil {
		return nil, err
	}
	return &digestOutput{api.WorkDigest{ID: id, Site: r.Site, Leg: in.Leg, Path: in.Path, Size: r.Size, SHA256: hex.EncodeToString(r.Data)}}, nil
}
