package web

func (s *Server) siteRoutes()  {}
func (s *Server) siteMetrics() {}
