package httpapi

import "fairlead/internal/auth"

// scope is what an operation acts on.
type scope int

const (
	nothing      scope = iota // of the zero rule: nobody may
	anybody                   // who is not authenticated yet
	self                      // the caller's own; every principal may
	installation              // tenants, operator tokens: the operator's
	ofTenant                  // the tenant in the path
	ofFleet                   // the fleet in the path
	ofGone                    // the tenant in the path, which may be deleted: then only an operator can find it
)

// rule says who may call an operation. What its handler decides beyond that stands at
// the handler: secrets in a write, roles in a new token.
type rule struct {
	scope    scope
	action   auth.Action // "": whoever sees the tenant
	document bool        // the body is a document of package resource, taken as raw bytes
	rows     bool        // the body is as long as a document may be
	reads    bool        // it is no GET, and counts as one
}

// rules has one row per operation of openapi.yaml; a test compares the two.
var rules = map[string]rule{
	"whoami": {scope: self},

	"signIn":  {scope: anybody},
	"signOut": {scope: self},

	"endOtherSessions": {scope: self},

	"listSessions":         {scope: ofTenant}, // whose: the handler
	"endSession":           {scope: ofTenant},
	"listOperatorSessions": {scope: installation, action: auth.ManageOperators},
	"endOperatorSession":   {scope: installation, action: auth.ManageOperators},

	"getGuard": {scope: self},

	"getSchemas":       {scope: self},
	"getSchema":        {scope: self},
	"getMessageSchema": {scope: self},

	"listTenants":  {scope: self},
	"createTenant": {scope: installation, action: auth.ManageTenants},
	"getTenant":    {scope: ofTenant},
	"deleteTenant": {scope: ofTenant, action: auth.DeleteTenant},

	"restoreTenant": {scope: ofGone, action: auth.ManageTenants},

	"getUsage":     {scope: ofTenant},
	"getLimits":    {scope: ofTenant, action: auth.ManageTenants},
	"updateLimits": {scope: ofTenant, action: auth.ManageTenants},

	"listTenantEvents": {scope: ofTenant, action: auth.ExportAudit},
	"listAudit":        {scope: ofTenant, action: auth.ExportAudit},
	"getAuditCheck":    {scope: ofTenant, action: auth.ExportAudit},
	"listAuditChain":   {scope: ofTenant, action: auth.ExportAudit},

	"listTokens":    {scope: ofTenant, action: auth.ManageTokens},
	"createToken":   {scope: ofTenant, action: auth.ManageTokens},
	"revokeToken":   {scope: ofTenant, action: auth.ManageTokens},
	"getTokenMade":  {scope: ofTenant, action: auth.ManageTokens},
	"handOverToken": {scope: ofTenant, action: auth.HandOverTokens},

	"listServers": {scope: installation, action: auth.ManageOperators},

	"listOperatorTokens":  {scope: installation, action: auth.ManageOperators},
	"createOperatorToken": {scope: installation, action: auth.ManageOperators},
	"revokeOperatorToken": {scope: installation, action: auth.ManageOperators},

	"listFleets":  {scope: ofTenant, action: auth.ReadConfig},
	"createFleet": {scope: ofTenant, action: auth.ManageFleets},
	"getFleet":    {scope: ofFleet, action: auth.ReadConfig},
	"updateFleet": {scope: ofFleet, action: auth.ManageFleets},
	"deleteFleet": {scope: ofFleet, action: auth.ManageFleets},

	"restoreFleet": {scope: ofTenant, action: auth.ManageFleets}, // the fleet is not there

	"getFleetUsage": {scope: ofFleet, action: auth.ReadConfig},

	"getTopology": {scope: ofFleet, action: auth.ReadConfig},

	"getLive":       {scope: ofFleet, action: auth.ReadConfig},
	"getTenantLive": {scope: self}, // of which fleets: the handler

	"listFindings": {scope: ofFleet, action: auth.ReadConfig},

	"listResources":       {scope: ofFleet, action: auth.ReadConfig},
	"listResourcesOfType": {scope: ofFleet, action: auth.ReadConfig},
	"getResource":         {scope: ofFleet, action: auth.ReadConfig},
	"putResource":         {scope: ofFleet, action: auth.WriteConfig, document: true},
	"deleteResource":      {scope: ofFleet, action: auth.WriteConfig},
	"apply":               {scope: ofFleet, action: auth.WriteConfig, document: true},
	"plan":                {scope: ofFleet, action: auth.WriteConfig, document: true},
	"importConfig":        {scope: ofFleet, action: auth.WriteConfig, document: true},
	"rollback":            {scope: ofFleet, action: auth.WriteConfig},
	"planRollback":        {scope: ofFleet, action: auth.WriteConfig},

	"listRevisions": {scope: ofFleet, action: auth.ReadConfig},
	"getRevision":   {scope: ofFleet, action: auth.ReadConfig},
	"getReceipt":    {scope: ofFleet, action: auth.ReadConfig},

	"listRevisionChanges": {scope: ofFleet, action: auth.ReadConfig},
	"compareRevisions":    {scope: ofFleet, action: auth.ReadConfig},
	"listResourceHistory": {scope: ofFleet, action: auth.ReadConfig},

	"listEndpoints":  {scope: ofFleet, action: auth.ReadConfig},
	"writeEndpoints": {scope: ofFleet, action: auth.WriteConfig, rows: true},
	"putEndpoint":    {scope: ofFleet, action: auth.WriteConfig},
	"deleteEndpoint": {scope: ofFleet, action: auth.WriteConfig},
	"takeLease":      {scope: ofFleet, action: auth.WriteConfig},
	"renewLease":     {scope: ofFleet, action: auth.WriteConfig, reads: true},
	"endLease":       {scope: ofFleet, action: auth.WriteConfig},

	"listLoad": {scope: ofFleet, action: auth.ReadConfig},

	"listCredentials":  {scope: ofFleet, action: auth.ManageCredentials},
	"createCredential": {scope: ofFleet, action: auth.ManageCredentials},
	"renewCredential":  {scope: ofFleet, action: auth.ManageCredentials},
	"revokeCredential": {scope: ofFleet, action: auth.ManageCredentials},

	"getBootstrap":  {scope: ofFleet, action: auth.ReadConfig},
	"listNodes":     {scope: ofFleet, action: auth.ReadConfig},
	"getNode":       {scope: ofFleet, action: auth.ReadConfig},
	"getNodeConfig": {scope: ofFleet, action: auth.ReadConfig},
	"getNodeWhy":    {scope: ofFleet, action: auth.ReadConfig},
	"retryNode":     {scope: ofFleet, action: auth.WriteConfig},
	"listEvents":    {scope: ofFleet, action: auth.ReadConfig},
}
