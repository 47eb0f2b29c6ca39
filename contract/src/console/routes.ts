import type { z } from "zod";
import { agentSettingsRoutes } from "./agent-settings.ts";
import { agentRoutes } from "./agents.ts";
import { alertRoutes } from "./alerts.ts";
import { batchRoutes } from "./batches.ts";
import { budgetPolicyRoutes } from "./budget-policies.ts";
import { fileRoutes } from "./files.ts";
import { guardrailFindingRoutes } from "./guardrail-findings.ts";
import { guardrailRoutes } from "./guardrails.ts";
import { keyRequestRoutes } from "./key-requests.ts";
import { keyRoutes } from "./keys.ts";
import { mediaRoutes } from "./media.ts";
import { modelRoutes } from "./models.ts";
import { overviewRoutes } from "./overview.ts";
import { peopleRoutes } from "./people.ts";
import { playgroundShareRoutes } from "./playground-shares.ts";
import { priceListRoutes } from "./price-list.ts";
import { providerRoutes } from "./providers.ts";
import { reconciliationRoutes } from "./reconciliation.ts";
import { rehearsalRoutes } from "./rehearsals.ts";
import { requestSessionRoutes } from "./request-sessions.ts";
import { requestRoutes } from "./requests.ts";
import { rightsRoutes } from "./rights.ts";
import type { PathNames } from "./route.ts";
import { scheduledReportRoutes } from "./scheduled-reports.ts";
import { sessionRoutes } from "./session.ts";
import { settingsRoutes } from "./settings.ts";
import { storedObjectRoutes } from "./stored-objects.ts";
import { usageRoutes } from "./usage.ts";
import { viewRoutes } from "./views.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** The whole admin API by name. */
export const consoleRoutes = {
  ...sessionRoutes,
  ...workspaceRoutes,
  ...peopleRoutes,
  ...keyRoutes,
  ...keyRequestRoutes,
  ...providerRoutes,
  ...modelRoutes,
  ...priceListRoutes,
  ...usageRoutes,
  ...reconciliationRoutes,
  ...budgetPolicyRoutes,
  ...overviewRoutes,
  ...viewRoutes,
  ...scheduledReportRoutes,
  ...playgroundShareRoutes,
  ...requestRoutes,
  ...requestSessionRoutes,
  ...mediaRoutes,
  ...fileRoutes,
  ...batchRoutes,
  ...storedObjectRoutes,
  ...alertRoutes,
  ...guardrailRoutes,
  ...guardrailFindingRoutes,
  ...rehearsalRoutes,
  ...settingsRoutes,
  ...rightsRoutes,
  ...agentRoutes,
  ...agentSettingsRoutes,
} as const;

type ConsoleRoutes = typeof consoleRoutes;
export type RouteId = keyof ConsoleRoutes;
export type NeedOf<Id extends RouteId> = ConsoleRoutes[Id]["needs"];

export type RouteParams<Id extends RouteId> = Readonly<Record<PathNames<ConsoleRoutes[Id]["path"]>, string>>;
type Part<Id extends RouteId, Name extends "query" | "body"> = ConsoleRoutes[Id] extends {
  readonly [Key in Name]?: infer Schema;
}
  ? Extract<Schema, z.ZodType>
  : never;
/** Types that a caller sends (`Input`), and types that the handler gets after parsing (`Of`). */
export type QueryInput<Id extends RouteId> = [Part<Id, "query">] extends [never]
  ? undefined
  : z.input<Part<Id, "query">>;
export type QueryOf<Id extends RouteId> = [Part<Id, "query">] extends [never] ? undefined : z.output<Part<Id, "query">>;
export type BodyInput<Id extends RouteId> = [Part<Id, "body">] extends [never] ? undefined : z.input<Part<Id, "body">>;
export type BodyOf<Id extends RouteId> = [Part<Id, "body">] extends [never] ? undefined : z.output<Part<Id, "body">>;
export type AnswerOf<Id extends RouteId> = z.output<ConsoleRoutes[Id]["answer"]>;
