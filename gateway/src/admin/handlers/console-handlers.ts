import type { ConsoleDependencies } from "../dependencies.ts";
import { accessHandlers } from "./access-handlers.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { alertHandlers } from "./alert-handlers.ts";
import { batchHandlers } from "./batch-handlers.ts";
import { budgetPolicyHandlers } from "./budget-policy-handlers.ts";
import type { Handlers } from "./calls.ts";
import { fileHandlers } from "./file-handlers.ts";
import { guardrailFindingHandlers } from "./guardrail-finding-handlers.ts";
import { guardrailHandlers } from "./guardrail-handlers.ts";
import { invitationHandlers } from "./invitation-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { keyRequestHandlers } from "./key-request-handlers.ts";
import { limitHandlers } from "./limit-handlers.ts";
import { mediaHandlers } from "./media-handlers.ts";
import { modelHandlers } from "./model-handlers.ts";
import { overviewHandlers } from "./overview-handlers.ts";
import { peopleHandlers } from "./people-handlers.ts";
import { playgroundShareHandlers } from "./playground-share-handlers.ts";
import { providerHandlers } from "./provider-handlers.ts";
import { reconciliationHandlers } from "./reconciliation-handlers.ts";
import { rehearsalHandlers } from "./rehearsal-handlers.ts";
import { reportHandlers } from "./report-handlers.ts";
import { requestHandlers } from "./request-handlers.ts";
import { requestSessionHandlers } from "./request-session-handlers.ts";
import { scheduledReportHandlers } from "./scheduled-report-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";
import { settingsHandlers } from "./settings-handlers.ts";
import { storedObjectHandlers } from "./stored-object-handlers.ts";
import { systemHandlers } from "./system-handlers.ts";
import { tokenHandlers } from "./token-handlers.ts";
import { usageHandlers } from "./usage-handlers.ts";
import { viewHandlers } from "./view-handlers.ts";
import { workspaceHandlers } from "./workspace-handlers.ts";

export function consoleHandlers(dependencies: ConsoleDependencies): Handlers {
  return {
    ...sessionHandlers(dependencies),
    ...invitationHandlers(dependencies),
    ...peopleHandlers(dependencies),
    ...tokenHandlers(dependencies),
    ...workspaceHandlers(dependencies),
    ...keyHandlers(dependencies),
    ...keyRequestHandlers(dependencies),
    ...accessHandlers(dependencies),
    ...providerHandlers(dependencies),
    ...modelHandlers(dependencies),
    ...reportHandlers(dependencies),
    ...requestHandlers(dependencies),
    ...requestSessionHandlers(dependencies),
    ...usageHandlers(dependencies),
    ...reconciliationHandlers(dependencies),
    ...viewHandlers(dependencies),
    ...scheduledReportHandlers(dependencies),
    ...playgroundShareHandlers(dependencies),
    ...limitHandlers(dependencies),
    ...overviewHandlers(dependencies),
    ...alertHandlers(dependencies),
    ...guardrailHandlers(dependencies),
    ...budgetPolicyHandlers(dependencies),
    ...guardrailFindingHandlers(dependencies),
    ...rehearsalHandlers(dependencies),
    ...mediaHandlers(dependencies),
    ...fileHandlers(dependencies),
    ...batchHandlers(dependencies),
    ...storedObjectHandlers(dependencies),
    ...settingsHandlers(dependencies),
    ...systemHandlers(dependencies),
    ...agentHandlers(dependencies),
  };
}
