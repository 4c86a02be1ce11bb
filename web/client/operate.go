package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bourse-grid/bourse/web/api"
)

// Site shows how a site stands.
func (c *Client) Site(ctx context.Context) (s api.SiteState, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/site", nil, &s)
	return s, err
}

// Drain has a site take nothing new.
func (c *Client) Drain(ctx context.Context, w api.DrainWish) (api.SiteState, error) {
	return c.operate(ctx, http.MethodPost, "/v1/drain", w)
}

// Resume ends a drain.
func (c *Client) Resume(ctx context.Context) (api.SiteState, error) {
	return c.operate(ctx, http.MethodDelete, "/v1/drain", nil)
}

// Maintain takes nodes of a site out of service over a window.
func (c *Client) Maintain(ctx context.Context, w api.MaintenanceWish) (api.SiteState, error) {
	return c.operate(ctx, http.MethodPost, "/v1/maintenance", w)
}

// EndMaintenance gives the nodes of a maintenance back.
func (c *Client) EndMaintenance(ctx context.Context, name string) (api.SiteState, error) {
	return c.operate(ctx, http.MethodDelete, "/v1/maintenance/"+url.PathEscape(name), nil)
}

// CloseTo has a site take nothing new of a VO, a user, or that user of that VO.
func (c *Client) CloseTo(ctx context.Context, w api.CloseWish) (api.SiteState, error) {
	return c.operate(ctx, http.MethodPost, "/v1/close", w)
}

// OpenTo ends a CloseTo of the same VO and user.
func (c *Client) OpenTo(ctx context.Context, w api.OpenWish) (api.SiteState, error) {
	return c.operate(ctx, http.MethodPost, "/v1/open", w)
}

// Reload has a site read its file again.
func (c *Client) Reload(ctx context.Context, w api.ReloadWish) (r api.Reloaded, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/reload", w, &r)
	return r, err
}

func (c *Client) operate(ctx context.Context, method, path string, wish any) (s api.SiteState, err error) {
	err = c.call(ctx, method, path, wish, &s)
	return s, err
}
