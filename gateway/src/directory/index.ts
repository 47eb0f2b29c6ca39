/**
 * directory: workspaces, groups, keys, providers, models, settings, notices, people, their rights and coding agents. Each object's
 * rules and SQL stand together; the admin API, the command line, the config file and identity providers (SCIM) write here.
 *
 * Promises: a write, its audit rows and its change notices are one transaction. Objects with the owner `file` belong to the
 * config file, those with `console` to the admin API. When the database is down, calls reject and nothing is half done.
 */

export type { WaitingDevice } from "./agents/agent-devices.ts";
export type { AgentGrant, AgentSession } from "./agents/agent-sessions.ts";
export type { AgentSettingsNow, AgentSettingsVersion } from "./agents/agent-settings.ts";
export { type AgentStore, createAgentStore } from "./agents/agent-store.ts";
export { type ControlStore, createControlStore } from "./control-store.ts";
export type { KeyChange } from "./keys/key-rules.ts";
export type { NewKey } from "./keys/keys.ts";
export type { EndingToken } from "./keys/limited-keys.ts";
export {
  type Crossing,
  createNoticeStore,
  type DueNotice,
  type NoticeFields,
  type NoticeStore,
  type StoredNotice,
} from "./notices.ts";
export type { MemberChange } from "./people/members.ts";
export { createPeopleStore, type PeopleStore } from "./people/people-store.ts";
export { kindConflicts, type ProviderRecord } from "./providers/providers.ts";
export { ConfigConflict } from "./refusals.ts";
export { createRightsStore, type IssuerToAsk, type RightsStore } from "./rights/rights-store.ts";
export type { ScimComparison, ScimFilter, ScimPage } from "./scim/scim-filter.ts";
export type { ScimGroup, ScimGroupChange, ScimMemberChange } from "./scim/scim-groups.ts";
export { createScimStore, type ScimStore } from "./scim/scim-store.ts";
export type { ScimUser, ScimUserForm } from "./scim/scim-users.ts";
export { ledgerExportPlace } from "./settings.ts";
export type { StoredWorkspace } from "./workspaces/workspace-rows.ts";
