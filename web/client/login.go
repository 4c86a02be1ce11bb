package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Issuer is where people log in, and as what program this one is known there.
type Issuer struct {
	URL      string
	ClientID string   // the audience of its tokens
	Scopes   []string // beside openid
}

// Bounds of a log-in.
const (
	issuerTime = 10 * time.Second // of a request
	loginTime  = 15 * time.Minute // for people to say yes, if the issuer does not say less
)

// Login has somebody log in by another device (RFC 8628): show is told where to say which
// code. It returns the ID token, once that has happened.
func (i *Issuer) Login(ctx context.Context, show func(at, code string)) (string, error) {
	u, err := url.Parse(i.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return "", fmt.Errorf("%q is no issuer; must be https://HOST..., or http of this machine", i.URL)
	}
	ctx, stop := context.WithTimeout(ctx, loginTime)
	defer stop()
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: issuerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects, which is not followed") }})
	provider, err := oidc.NewProvider(ctx, i.URL)
	if err != nil {
		return "", fmt.Errorf("the issuer %s: %w", i.URL, err)
	}
	cfg := oauth2.Config{ClientID: i.ClientID, Endpoint: provider.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, i.Scopes...)}
	if cfg.Endpoint.DeviceAuthURL == "" {
		return "", fmt.Errorf("the issuer %s knows no log-in by another device; have another tool of it write token_file", i.URL)
	}
	device, err := cfg.DeviceAuth(ctx)
	if err != nil {
		return "", fmt.Errorf("the issuer %s begins no log-in: %w", i.URL, err)
	}
	show(device.VerificationURI, device.UserCode)
	token, err := cfg.DeviceAccessToken(ctx, device)
	if err != nil {
		return "", fmt.Errorf("nobody has logged in: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return "", fmt.Errorf("the issuer %s has given no ID token; is %s a client of OpenID there?", i.URL, i.ClientID)
	}
	return raw, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SaveToken writes a token to the context's token file, beside it first, and returns its
// name.
func (c *Context) SaveToken(token string) (string, error) {
	if c.TokenFile == "" {
		return "", fmt.Errorf(`%s: names no file for a token; write "token_file": "token" beside "ca"`, c.file)
	}
	name := c.path(c.TokenFile)
	beside := name + ".new"
	if err := os.WriteFile(beside, []byte(token+"\n"), 0o600); err != nil {
		return "", err
	}
	return name, os.Rename(beside, name)
}
