from enum import StrEnum


class ResourceType(StrEnum):
    CLUSTERS = "clusters"
    ENDPOINTS = "endpoints"
    EXTENSIONS = "extensions"
    LISTENERS = "listeners"
    ROUTES = "routes"
    RUNTIMES = "runtimes"
    SCOPED_ROUTES = "scoped-routes"
    SECRETS = "secrets"
    VIRTUAL_HOSTS = "virtual-hosts"

    def __str__(self) -> str:
        return str(self.value)
