"""Contains all the data models used in inputs/outputs"""

from .action_code import ActionCode
from .apply_input import ApplyInput
from .audit_anchor import AuditAnchor
from .audit_chain import AuditChain
from .audit_check import AuditCheck
from .audit_check_state import AuditCheckState
from .audit_delivery import AuditDelivery
from .audit_delivery_collector import AuditDeliveryCollector
from .audit_event import AuditEvent
from .audit_event_detail import AuditEventDetail
from .audit_fault import AuditFault
from .audit_fault_what import AuditFaultWhat
from .audit_head import AuditHead
from .audit_link import AuditLink
from .audit_list import AuditList
from .audit_record import AuditRecord
from .bootstrap import Bootstrap
from .bootstrap_file import BootstrapFile
from .comparison import Comparison
from .confirm_code import ConfirmCode
from .confirm_reason import ConfirmReason
from .credential import Credential
from .credential_create import CredentialCreate
from .credential_created import CredentialCreated
from .credential_list import CredentialList
from .credential_renew import CredentialRenew
from .credential_state import CredentialState
from .deleted_state import DeletedState
from .delivery import Delivery
from .denied_reason import DeniedReason
from .difference import Difference
from .endpoint import Endpoint
from .endpoint_fields import EndpointFields
from .endpoint_health import EndpointHealth
from .endpoint_list import EndpointList
from .endpoint_load import EndpointLoad
from .endpoint_locality import EndpointLocality
from .endpoint_metadata import EndpointMetadata
from .endpoint_metadata_additional_property import EndpointMetadataAdditionalProperty
from .endpoint_put import EndpointPut
from .endpoint_write import EndpointWrite
from .endpoint_written import EndpointWritten
from .envoy_config import EnvoyConfig
from .event import Event
from .event_kind import EventKind
from .event_list import EventList
from .field_error import FieldError
from .finding import Finding
from .finding_code import FindingCode
from .finding_list import FindingList
from .finding_severity import FindingSeverity
from .fleet import Fleet
from .fleet_counts import FleetCounts
from .fleet_create import FleetCreate
from .fleet_list import FleetList
from .fleet_numbers import FleetNumbers
from .fleet_update import FleetUpdate
from .fleet_usage import FleetUsage
from .fleet_values import FleetValues
from .get_bootstrap_client import GetBootstrapClient
from .get_message_schema_response_200 import GetMessageSchemaResponse200
from .get_receipt_state import GetReceiptState
from .get_schema_response_200 import GetSchemaResponse200
from .guard import Guard
from .guard_rule import GuardRule
from .import_note import ImportNote
from .imported import Imported
from .imported_resource import ImportedResource
from .last_change import LastChange
from .lease import Lease
from .lease_take import LeaseTake
from .limit import Limit
from .limit_name import LimitName
from .limit_scope import LimitScope
from .limits import Limits
from .limits_update import LimitsUpdate
from .list_audit_format import ListAuditFormat
from .live_news import LiveNews
from .live_what import LiveWhat
from .load import Load
from .load_drop import LoadDrop
from .load_list import LoadList
from .load_metric import LoadMetric
from .locality_load import LocalityLoad
from .made_credential import MadeCredential
from .maker import Maker
from .maker_kind import MakerKind
from .missing import Missing
from .node import Node
from .node_config import NodeConfig
from .node_counts import NodeCounts
from .node_ids import NodeIds
from .node_labels import NodeLabels
from .node_labels_metadata import NodeLabelsMetadata
from .node_list import NodeList
from .node_reason import NodeReason
from .node_reasons import NodeReasons
from .node_resource import NodeResource
from .node_resource_state import NodeResourceState
from .node_state import NodeState
from .node_subscription import NodeSubscription
from .node_why import NodeWhy
from .operator_token import OperatorToken
from .operator_token_create import OperatorTokenCreate
from .operator_token_created import OperatorTokenCreated
from .operator_token_list import OperatorTokenList
from .own_session import OwnSession
from .plan import Plan
from .plan_action import PlanAction
from .plan_counts import PlanCounts
from .plan_limit import PlanLimit
from .plan_reach import PlanReach
from .plan_references import PlanReferences
from .plan_view import PlanView
from .planned_change import PlannedChange
from .planned_change_op import PlannedChangeOp
from .planned_resource import PlannedResource
from .problem import Problem
from .receipt import Receipt
from .receipt_counts import ReceiptCounts
from .receipt_node import ReceiptNode
from .receipt_node_state import ReceiptNodeState
from .receipt_refusal import ReceiptRefusal
from .receipt_state import ReceiptState
from .references import References
from .refusal import Refusal
from .refusal_end import RefusalEnd
from .requirement import Requirement
from .resource import Resource
from .resource_change import ResourceChange
from .resource_history import ResourceHistory
from .resource_input import ResourceInput
from .resource_input_labels import ResourceInputLabels
from .resource_labels import ResourceLabels
from .resource_list import ResourceList
from .resource_name import ResourceName
from .resource_ref import ResourceRef
from .resource_type import ResourceType
from .resource_values import ResourceValues
from .resource_version import ResourceVersion
from .retry import Retry
from .revision import Revision
from .revision_kind import RevisionKind
from .revision_list import RevisionList
from .role import Role
from .rollback_request import RollbackRequest
from .schema_list import SchemaList
from .schema_of_type import SchemaOfType
from .secret_summary import SecretSummary
from .server import Server
from .server_list import ServerList
from .server_state import ServerState
from .session import Session
from .session_list import SessionList
from .session_token import SessionToken
from .sessions_ended import SessionsEnded
from .side import Side
from .sign_in import SignIn
from .tenant import Tenant
from .tenant_create import TenantCreate
from .tenant_event import TenantEvent
from .tenant_event_detail import TenantEventDetail
from .tenant_event_list import TenantEventList
from .tenant_list import TenantList
from .tenant_live_news import TenantLiveNews
from .tenant_live_what import TenantLiveWhat
from .token import Token
from .token_create import TokenCreate
from .token_created import TokenCreated
from .token_list import TokenList
from .token_made import TokenMade
from .topology import Topology
from .topology_edge import TopologyEdge
from .topology_resource import TopologyResource
from .topology_state import TopologyState
from .type_count import TypeCount
from .usage import Usage
from .variant_reason import VariantReason
from .variant_ref import VariantRef
from .waits import Waits
from .whoami import Whoami
from .whoami_kind import WhoamiKind
from .withheld import Withheld
from .withheld_reason import WithheldReason
from .write_findings import WriteFindings
from .write_result import WriteResult

__all__ = (
    "ActionCode",
    "ApplyInput",
    "AuditAnchor",
    "AuditChain",
    "AuditCheck",
    "AuditCheckState",
    "AuditDelivery",
    "AuditDeliveryCollector",
    "AuditEvent",
    "AuditEventDetail",
    "AuditFault",
    "AuditFaultWhat",
    "AuditHead",
    "AuditLink",
    "AuditList",
    "AuditRecord",
    "Bootstrap",
    "BootstrapFile",
    "Comparison",
    "ConfirmCode",
    "ConfirmReason",
    "Credential",
    "CredentialCreate",
    "CredentialCreated",
    "CredentialList",
    "CredentialRenew",
    "CredentialState",
    "DeletedState",
    "Delivery",
    "DeniedReason",
    "Difference",
    "Endpoint",
    "EndpointFields",
    "EndpointHealth",
    "EndpointList",
    "EndpointLoad",
    "EndpointLocality",
    "EndpointMetadata",
    "EndpointMetadataAdditionalProperty",
    "EndpointPut",
    "EndpointWrite",
    "EndpointWritten",
    "EnvoyConfig",
    "Event",
    "EventKind",
    "EventList",
    "FieldError",
    "Finding",
    "FindingCode",
    "FindingList",
    "FindingSeverity",
    "Fleet",
    "FleetCounts",
    "FleetCreate",
    "FleetList",
    "FleetNumbers",
    "FleetUpdate",
    "FleetUsage",
    "FleetValues",
    "GetBootstrapClient",
    "GetMessageSchemaResponse200",
    "GetReceiptState",
    "GetSchemaResponse200",
    "Guard",
    "GuardRule",
    "ImportNote",
    "Imported",
    "ImportedResource",
    "LastChange",
    "Lease",
    "LeaseTake",
    "Limit",
    "LimitName",
    "LimitScope",
    "Limits",
    "LimitsUpdate",
    "ListAuditFormat",
    "LiveNews",
    "LiveWhat",
    "Load",
    "LoadDrop",
    "LoadList",
    "LoadMetric",
    "LocalityLoad",
    "MadeCredential",
    "Maker",
    "MakerKind",
    "Missing",
    "Node",
    "NodeConfig",
    "NodeCounts",
    "NodeIds",
    "NodeLabels",
    "NodeLabelsMetadata",
    "NodeList",
    "NodeReason",
    "NodeReasons",
    "NodeResource",
    "NodeResourceState",
    "NodeState",
    "NodeSubscription",
    "NodeWhy",
    "OperatorToken",
    "OperatorTokenCreate",
    "OperatorTokenCreated",
    "OperatorTokenList",
    "OwnSession",
    "Plan",
    "PlanAction",
    "PlanCounts",
    "PlanLimit",
    "PlanReach",
    "PlanReferences",
    "PlanView",
    "PlannedChange",
    "PlannedChangeOp",
    "PlannedResource",
    "Problem",
    "Receipt",
    "ReceiptCounts",
    "ReceiptNode",
    "ReceiptNodeState",
    "ReceiptRefusal",
    "ReceiptState",
    "References",
    "Refusal",
    "RefusalEnd",
    "Requirement",
    "Resource",
    "ResourceChange",
    "ResourceHistory",
    "ResourceInput",
    "ResourceInputLabels",
    "ResourceLabels",
    "ResourceList",
    "ResourceName",
    "ResourceRef",
    "ResourceType",
    "ResourceValues",
    "ResourceVersion",
    "Retry",
    "Revision",
    "RevisionKind",
    "RevisionList",
    "Role",
    "RollbackRequest",
    "SchemaList",
    "SchemaOfType",
    "SecretSummary",
    "Server",
    "ServerList",
    "ServerState",
    "Session",
    "SessionList",
    "SessionToken",
    "SessionsEnded",
    "Side",
    "SignIn",
    "Tenant",
    "TenantCreate",
    "TenantEvent",
    "TenantEventDetail",
    "TenantEventList",
    "TenantList",
    "TenantLiveNews",
    "TenantLiveWhat",
    "Token",
    "TokenCreate",
    "TokenCreated",
    "TokenList",
    "TokenMade",
    "Topology",
    "TopologyEdge",
    "TopologyResource",
    "TopologyState",
    "TypeCount",
    "Usage",
    "VariantReason",
    "VariantRef",
    "Waits",
    "Whoami",
    "WhoamiKind",
    "Withheld",
    "WithheldReason",
    "WriteFindings",
    "WriteResult",
)
