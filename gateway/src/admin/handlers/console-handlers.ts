import type { RouteId } from "@sluice/contract";
import { accessHandlers } from "./access-handlers.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { agentSettingsHandlers } from "./agent-settings-handlers.ts";
import type { Handlers } from "./handler.ts";
import { invitationHandlers } from "./invitation-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { limitHandlers } from "./limit-handlers.ts";
import { linkHandlers } from "./link-handlers.ts";
import { mediaHandlers } from "./media-handlers.ts";
import { memberHandlers } from "./member-handlers.ts";
import { modelHandlers, priceListHandlers } from "./model-handlers.ts";
import { noticeHandlers } from "./notice-handlers.ts";
import { providerHandlers } from "./provider-handlers.ts";
import { auditHandlers, requestHandlers } from "./request-handlers.ts";
import { rightsHandlers } from "./rights-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";
import { scimHandlers, settingsHandlers } from "./settings-handlers.ts";
import { systemHandlers } from "./system-handlers.ts";
import { tokenHandlers } from "./token-handlers.ts";
import { usageHandlers } from "./usage-handlers.ts";
import { userHandlers } from "./user-handlers.ts";
import { webhookHandlers, workspaceHandlers } from "./workspace-handlers.ts";

const people = [linkHandlers, userHandlers, memberHandlers, invitationHandlers] as const;

const parts = [
  ...people,
  sessionHandlers,
  tokenHandlers,
  workspaceHandlers,
  accessHandlers,
  keyHandlers,
  providerHandlers,
  modelHandlers,
  priceListHandlers,
  usageHandlers,
  limitHandlers,
  requestHandlers,
  mediaHandlers,
  settingsHandlers,
  scimHandlers,
  systemHandlers,
  auditHandlers,
  noticeHandlers,
  webhookHandlers,
  agentHandlers,
  agentSettingsHandlers,
  rightsHandlers,
] as const;

/** All of a union at once. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;

/** Everything that the calls of the admin API stand on; each file of calls names its own part. */
export type ConsoleHandlerDependencies = All<Parameters<(typeof parts)[number]>[0]>;

/** The handler of every route. */
export function consoleHandlers(dependencies: ConsoleHandlerDependencies): Handlers<RouteId> {
  const handlers: All<ReturnType<(typeof parts)[number]>> = Object.assign(
    {},
    ...parts.map((part) => part(dependencies)),
  );
  return handlers;
}

/** The calls about people: users, members, invitations, and the links that both are sent. */
export function peopleHandlers(
  dependencies: All<Parameters<(typeof people)[number]>[0]>,
): All<ReturnType<(typeof people)[number]>> {
  return Object.assign({}, ...people.map((part) => part(dependencies)));
}
