package httpapi

import (
	"context"
	"errors"

	"fairlead/internal/bootstrap"
	"fairlead/internal/httpapi/oapi"
)

// GetBootstrap implements getBootstrap. It reads nothing of the fleet.
func (a *API) GetBootstrap(_ context.Context, _ *call, r oapi.GetBootstrapRequestObject) (oapi.GetBootstrapResponseObject, error) {
	p, client := r.Params, bootstrap.ClientEnvoy
	if p.Client != nil {
		client = bootstrap.Client(*p.Client)
	}
	if deref(p.Sotw) && (client == bootstrap.ClientGRPC || client == bootstrap.ClientRelay) {
		return nil, badParameter("sotw", "invalid", "it means nothing to this client: gRPC clients speak nothing else")
	}
	c, err := bootstrapConfig(p)
	if err != nil {
		return nil, err
	}
	files, notes, err := bootstrap.Files(client, c)
	if err != nil {
		return nil, bootstrapFault(err)
	}
	return oapi.GetBootstrap200JSONResponse{Notes: notes, Files: each(files, func(f bootstrap.File) oapi.BootstrapFile {
		return oapi.BootstrapFile{Name: f.Name, Path: optional(f.Path), Text: string(f.Text)}
	})}, nil
}

func bootstrapConfig(p oapi.GetBootstrapParams) (bootstrap.Config, error) {
	c := bootstrap.Config{
		NodeID: p.NodeId, NodeCluster: deref(p.NodeCluster), Region: deref(p.Region), Zone: deref(p.Zone), SubZone: deref(p.SubZone),
		XDSAddresses: p.Xds, FailoverAddresses: deref(p.Failover), Delta: !deref(p.Sotw), Plaintext: deref(p.Plaintext),
		CAFile: deref(p.CaFile), ServerName: deref(p.ServerName), TokenFile: deref(p.TokenFile), TokenEnv: deref(p.TokenEnv),
		RelayAddress: deref(p.RelayListen), AdminAddress: deref(p.Admin),
	}
	for _, text := range deref(p.Metadata) {
		if err := c.SetMetadata(text); err != nil {
			return c, bootstrapFault(err)
		}
	}
	for _, text := range deref(p.Label) {
		if err := c.SetLabel(text); err != nil {
			return c, bootstrapFault(err)
		}
	}
	return c, nil
}

// bootstrapParameters are the parameters that set the fields of bootstrap.Config.
var bootstrapParameters = map[string]string{
	"NodeID": "node_id", "NodeCluster": "node_cluster", "Region": "region", "Zone": "zone", "SubZone": "sub_zone",
	"XDSAddresses": "xds", "FailoverAddresses": "failover", "Plaintext": "plaintext", "CAFile": "ca_file", "ServerName": "server_name",
	"TokenFile": "token_file", "TokenSDSFile": "token_file", "TokenEnv": "token_env",
	"RelayAddress": "relay_listen", "AdminAddress": "admin", "Metadata": "metadata", "Label": "label",
}

func bootstrapFault(err error) error {
	var wrong *bootstrap.FieldError
	if errors.As(err, &wrong) && bootstrapParameters[wrong.Field] != "" {
		name := bootstrapParameters[wrong.Field]
		return badParameter(name, "invalid", name+" "+wrong.Why)
	}
	return err
}
