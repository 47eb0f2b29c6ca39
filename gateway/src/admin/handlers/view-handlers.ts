import { meets } from "@sluice/contract/words";
import { withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import type { ConsoleCall, Handlers } from "./calls.ts";

type ViewCall = Pick<ConsoleCall<"views.list">, "actor" | "held" | "workspace">;

/** Saved views of pages. */
export function viewHandlers({ people }: Pick<ConsoleDependencies, "people">) {
  const scopeOf = ({ actor, held, workspace }: ViewCall) => ({
    workspaceId: workspace?.id ?? null,
    userId: actor.userId,
    mayManage: meets(held, "admin"),
  });
  return {
    "views.list": async (call) => ({ data: await people.savedViews(scopeOf(call)) }),
    "views.create": async (call) => await people.createView(scopeOf(call), call.body, call.auditSource),
    "views.update": async (call) =>
      await people.updateView(scopeOf(call), call.params.view, withoutUndefined(call.body), call.auditSource),
    "views.remove": async (call) => {
      await people.removeView(scopeOf(call), call.params.view, call.auditSource);
    },
  } satisfies Partial<Handlers>;
}
