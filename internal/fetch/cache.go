package fetch

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheVariable names the environment variable that moves the cache.
const CacheVariable = "FAIRLEAD_CACHE_DIR"

// CacheDir is where fetched programs are kept: $FAIRLEAD_CACHE_DIR, else the user's
// cache directory. Root's is none that another user may enter, and Postgres never runs
// as root; so root's lies below /var/cache.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	if os.Geteuid() == 0 {
		return "/var/cache/fairlead", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache directory: set %s: %w", CacheVariable, err)
	}
	return filepath.Join(dir, "fairlead"), nil
}
