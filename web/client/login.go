package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Issuer is where people log in, and as what program this one is known there. It is kept
// beside a context's token.
type Issuer struct {
	URL      string   `json:"issuer"`
	ClientID string   `json:"client"`                  // the audience of its tokens
	Scopes   []string `json:"scopes,omitempty"`        // beside openid
	Refresh  string   `json:"refresh_token,omitempty"` // by which another token is had without logging in, if it gives one
}

// Bounds of a log-in.
const (
	issuerTime = 10 * time.Second // of a request
	loginTime  = 15 * time.Minute // for people to say yes, if the issuer does not say less
)

// Prompt is what somebody who logs in by another device must do: open At and enter Code
// there, or open Whole, "" if the issuer has no such address, which has the code in it.
type Prompt struct{ At, Code, Whole string }

// Login has somebody log in by another device (RFC 8628): show is told where to say which
// code. It returns the ID token, once that has happened.
func (i *Issuer) Login(ctx context.Context, show func(Prompt)) (string, error) {
	ctx, stop := context.WithTimeout(ctx, loginTime)
	defer stop()
	ctx, cfg, err := i.known(ctx)
	if err != nil {
		return "", err
	}
	if cfg.Endpoint.DeviceAuthURL == "" {
		return "", fmt.Errorf("the issuer %s knows no log-in by another device; have another tool of it write token_file", i.URL)
	}
	device, err := cfg.DeviceAuth(ctx)
	if err != nil {
		return "", fmt.Errorf("the issuer %s begins no log-in: %w", i.URL, err)
	}
	show(Prompt{device.VerificationURI, device.UserCode, device.VerificationURIComplete})
	token, err := cfg.DeviceAccessToken(ctx, device)
	if err != nil {
		return "", fmt.Errorf("nobody has logged in: %w", err)
	}
	return i.taken(token)
}

// Renew returns another ID token without anybody logging in. It is an error if the issuer
// has given nothing to do so with, or does not take that any more.
func (i *Issuer) Renew(ctx context.Context) (string, error) {
	if i.Refresh == "" {
		return "", fmt.Errorf("the issuer %s has given no refresh token", i.URL)
	}
	ctx, cfg, err := i.known(ctx)
	if err != nil {
		return "", err
	}
	token, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: i.Refresh}).Token()
	if err != nil {
		return "", fmt.Errorf("the issuer %s gives no new token: %w", i.URL, err)
	}
	return i.taken(token)
}

// known asks the issuer where it is asked for what.
func (i *Issuer) known(ctx context.Context) (context.Context, *oauth2.Config, error) {
	u, err := url.Parse(i.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return ctx, nil, fmt.Errorf("%q is not an issuer; must be https://HOST..., or http on this machine", i.URL)
	}
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: issuerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it redirects, but redirects are not followed")
		}})
	provider, err := oidc.NewProvider(ctx, i.URL)
	if err != nil {
		return ctx, nil, fmt.Errorf("the issuer %s: %w", i.URL, err)
	}
	return ctx, &oauth2.Config{ClientID: i.ClientID, Endpoint: provider.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, i.Scopes...)}, nil
}

// taken is the ID token that came, and keeps what the next one is had with.
func (i *Issuer) taken(token *oauth2.Token) (string, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return "", fmt.Errorf("the issuer %s has given no ID token; is %s a client of OpenID there?", i.URL, i.ClientID)
	}
	i.Refresh = token.RefreshToken
	return raw, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SaveToken writes a token to the context's token file, and beside it by whom it was given;
// both are readable by their owner alone. It returns the name of the first.
func (c *Context) SaveToken(token string, by Issuer) (string, error) {
	if c.TokenFile == "" {
		return "", fmt.Errorf(`%s: names no file for a token; write "token_file": "token" beside "ca"`, c.file)
	}
	text, err := json.MarshalIndent(by, "", "  ")
	if err != nil {
		return "", err
	}
	name := c.path(c.TokenFile)
	if err := writeSecret(c.loginFile(), append(text, '\n')); err != nil {
		return "", err
	}
	return name, writeSecret(name, []byte(token+"\n"))
}

// Issuer is who has given the context's token; the zero one if nobody has been asked yet.
func (c *Context) Issuer() (i Issuer, err error) {
	text, err := os.ReadFile(c.loginFile())
	if c.TokenFile == "" || errors.Is(err, fs.ErrNotExist) {
		return Issuer{}, nil
	}
	if err == nil {
		if err = json.Unmarshal(text, &i); err != nil {
			err = fmt.Errorf("%s: %w; delete it and log in with --issuer and --client", c.loginFile(), err)
		}
	}
	return i, err
}

// loginFile is where it is kept who has given the token.
func (c *Context) loginFile() string { return c.path(c.TokenFile) + ".login" }

// writeSecret writes a file for its owner alone: beside it first, then in its place.
func writeSecret(name string, text []byte) error {
	beside := name + ".new"
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return err
	}
	return os.Rename(beside, name)
}
