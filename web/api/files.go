package api

// WorkFile is a file of the folder in which a leg's work began.
type WorkFile struct {
	Path    string  `json:"path" doc:"relative to the folder"`
	Size    int64   `json:"size" doc:"in bytes"`
	Changed Instant `json:"changed,omitzero" doc:"its last change, by the cluster's clock"`
}

// WorkFiles are the files of the folder of a leg's work.
type WorkFiles struct {
	ID    string     `json:"id"`
	Site  string     `json:"site"`
	Leg   int        `json:"leg" doc:"leg of the window, from 0, as in BOURSE_LEG"`
	Found int64      `json:"found" doc:"how many files there are; of more than 1,000 not all are listed"`
	Files []WorkFile `json:"files" doc:"by path: regular files, at most 16 folders deep; links are left out"`
}

// WorkDigest is the digest of a file of a leg's work.
type WorkDigest struct {
	ID     string `json:"id"`
	Site   string `json:"site"`
	Leg    int    `json:"leg"`
	Path   string `json:"path"`
	Size   int64  `json:"size" doc:"in bytes"`
	SHA256 string `json:"sha256" doc:"in hexadecimal digits"`
}
