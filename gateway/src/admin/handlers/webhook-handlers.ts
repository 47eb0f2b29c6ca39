import type { PeopleStore } from "#directory/index.ts";
import type { Handlers } from "./handler.ts";
import { oneWorkspace } from "./one-workspace.ts";

export interface WebhookHandlerDependencies {
  readonly people: Pick<PeopleStore, "note">;
  /** What messages of a workspace are signed with. */
  readonly webhookSecret: (workspaceId: string) => string;
}

/** The call about what webhooks are signed with. Whoever looks leaves a trace: with it one can sign as this gateway. */
export function webhookHandlers({
  people,
  webhookSecret,
}: WebhookHandlerDependencies): Handlers<"workspaces.webhookSecret"> {
  return {
    "workspaces.webhookSecret": async (call) => {
      const { id, slug } = oneWorkspace(call);
      await people.note({ action: "view", object: `webhook secret ${slug}`, workspaceId: id }, call.auditSource);
      return { secret: webhookSecret(id) };
    },
  };
}
