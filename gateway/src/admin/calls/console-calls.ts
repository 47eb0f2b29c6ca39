import type { RouteId } from "@sluice/contract";
import { type AccessCallsHouse, accessCalls } from "./access-calls.ts";
import { type AuditCallsHouse, auditCalls } from "./audit-calls.ts";
import type { Handlers } from "./handler.ts";
import { type KeyCallsHouse, keyCalls } from "./key-calls.ts";
import { type LimitCallsHouse, limitCalls } from "./limit-calls.ts";
import { type ModelCallsHouse, modelCalls } from "./model-calls.ts";
import { type NoticeCallsHouse, noticeCalls } from "./notice-calls.ts";
import { type PeopleCallsHouse, peopleCalls } from "./people-calls.ts";
import { type ProviderCallsHouse, providerCalls } from "./provider-calls.ts";
import { type RequestCallsHouse, requestCalls } from "./request-calls.ts";
import { type SessionCallsHouse, sessionCalls } from "./session-calls.ts";
import { type SettingsCallsHouse, settingsCalls } from "./settings-calls.ts";
import { type StudioCallsHouse, studioCalls } from "./studio-calls.ts";
import { type SystemCallsHouse, systemCalls } from "./system-calls.ts";
import { type TokenCallsHouse, tokenCalls } from "./token-calls.ts";
import { type UsageCallsHouse, usageCalls } from "./usage-calls.ts";
import { type WebhookCallsHouse, webhookCalls } from "./webhook-calls.ts";
import { type WorkspaceCallsHouse, workspaceCalls } from "./workspace-calls.ts";

/** Everything that the calls of the admin API stand on; each file of calls names its own part. */
export type ConsoleHouse = SessionCallsHouse &
  PeopleCallsHouse &
  TokenCallsHouse &
  WorkspaceCallsHouse &
  AccessCallsHouse &
  KeyCallsHouse &
  ProviderCallsHouse &
  ModelCallsHouse &
  UsageCallsHouse &
  LimitCallsHouse &
  RequestCallsHouse &
  StudioCallsHouse &
  SettingsCallsHouse &
  SystemCallsHouse &
  AuditCallsHouse &
  NoticeCallsHouse &
  WebhookCallsHouse;

/** The handler of every route. */
export function consoleCalls(house: ConsoleHouse): Handlers<RouteId> {
  return {
    ...sessionCalls(house),
    ...peopleCalls(house),
    ...tokenCalls(house),
    ...workspaceCalls(house),
    ...accessCalls(house),
    ...keyCalls(house),
    ...providerCalls(house),
    ...modelCalls(house),
    ...usageCalls(house),
    ...limitCalls(house),
    ...requestCalls(house),
    ...studioCalls(house),
    ...settingsCalls(house),
    ...systemCalls(house),
    ...auditCalls(house),
    ...noticeCalls(house),
    ...webhookCalls(house),
  };
}
