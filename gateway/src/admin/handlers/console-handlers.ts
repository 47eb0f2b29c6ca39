import type { RouteId } from "@sluice/contract";
import { type AccessHandlerDependencies, accessHandlers } from "./access-handlers.ts";
import { type AgentHandlerDependencies, agentHandlers } from "./agent-handlers.ts";
import { type AgentSettingsHandlerDependencies, agentSettingsHandlers } from "./agent-settings-handlers.ts";
import { type AuditHandlerDependencies, auditHandlers } from "./audit-handlers.ts";
import type { Handlers } from "./handler.ts";
import { type KeyHandlerDependencies, keyHandlers } from "./key-handlers.ts";
import { type LimitHandlerDependencies, limitHandlers } from "./limit-handlers.ts";
import { type MediaHandlerDependencies, mediaHandlers } from "./media-handlers.ts";
import { type ModelHandlerDependencies, modelHandlers } from "./model-handlers.ts";
import { type NoticeHandlerDependencies, noticeHandlers } from "./notice-handlers.ts";
import { type PeopleHandlerDependencies, peopleHandlers } from "./people-handlers.ts";
import { type PriceListHandlerDependencies, priceListHandlers } from "./price-list-handlers.ts";
import { type ProviderHandlerDependencies, providerHandlers } from "./provider-handlers.ts";
import { type RequestHandlerDependencies, requestHandlers } from "./request-handlers.ts";
import { type RightsHandlerDependencies, rightsHandlers } from "./rights-handlers.ts";
import { type ScimHandlerDependencies, scimHandlers } from "./scim-handlers.ts";
import { type SessionHandlerDependencies, sessionHandlers } from "./session-handlers.ts";
import { type SettingsHandlerDependencies, settingsHandlers } from "./settings-handlers.ts";
import { type SystemHandlerDependencies, systemHandlers } from "./system-handlers.ts";
import { type TokenHandlerDependencies, tokenHandlers } from "./token-handlers.ts";
import { type UsageHandlerDependencies, usageHandlers } from "./usage-handlers.ts";
import { type WebhookHandlerDependencies, webhookHandlers } from "./webhook-handlers.ts";
import { type WorkspaceHandlerDependencies, workspaceHandlers } from "./workspace-handlers.ts";

/** Everything that the calls of the admin API stand on; each file of calls names its own part. */
export type ConsoleHandlerDependencies = SessionHandlerDependencies &
  PeopleHandlerDependencies &
  TokenHandlerDependencies &
  WorkspaceHandlerDependencies &
  AccessHandlerDependencies &
  KeyHandlerDependencies &
  ProviderHandlerDependencies &
  ModelHandlerDependencies &
  PriceListHandlerDependencies &
  UsageHandlerDependencies &
  LimitHandlerDependencies &
  RequestHandlerDependencies &
  MediaHandlerDependencies &
  SettingsHandlerDependencies &
  ScimHandlerDependencies &
  SystemHandlerDependencies &
  AuditHandlerDependencies &
  NoticeHandlerDependencies &
  WebhookHandlerDependencies &
  AgentHandlerDependencies &
  AgentSettingsHandlerDependencies &
  RightsHandlerDependencies;

/** The handler of every route. */
export function consoleHandlers(dependencies: ConsoleHandlerDependencies): Handlers<RouteId> {
  return {
    ...sessionHandlers(dependencies),
    ...peopleHandlers(dependencies),
    ...tokenHandlers(dependencies),
    ...workspaceHandlers(dependencies),
    ...accessHandlers(dependencies),
    ...keyHandlers(dependencies),
    ...providerHandlers(dependencies),
    ...modelHandlers(dependencies),
    ...priceListHandlers(dependencies),
    ...usageHandlers(dependencies),
    ...limitHandlers(dependencies),
    ...requestHandlers(dependencies),
    ...mediaHandlers(dependencies),
    ...settingsHandlers(dependencies),
    ...scimHandlers(dependencies),
    ...systemHandlers(dependencies),
    ...auditHandlers(dependencies),
    ...noticeHandlers(dependencies),
    ...webhookHandlers(dependencies),
    ...agentHandlers(dependencies),
    ...agentSettingsHandlers(dependencies),
    ...rightsHandlers(dependencies),
  };
}
