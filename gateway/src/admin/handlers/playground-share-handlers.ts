import { meets } from "@sluice/contract/words";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Handlers, oneWorkspace } from "./calls.ts";

/** Playground sessions that are shared by link. */
export function playgroundShareHandlers({ people }: Pick<ConsoleDependencies, "people">) {
  return {
    "playgroundShares.list": async (call) => {
      const user = meets(call.held, "admin") ? null : call.actor.userId;
      return { data: await people.playgroundShares(oneWorkspace(call).id, user) };
    },
    "playgroundShares.create": async (call) => {
      const place = { workspaceId: oneWorkspace(call).id, userId: call.actor.userId };
      return await people.createPlaygroundShare(place, call.body.session, call.body.days, call.auditSource);
    },
    "playgroundShares.show": async (call) => await people.playgroundShare(oneWorkspace(call).id, call.params.share),
    "playgroundShares.remove": async (call) => {
      const place = { workspaceId: oneWorkspace(call).id, userId: call.actor.userId };
      const mayManage = meets(call.held, "admin");
      await people.removePlaygroundShare({ ...place, mayManage }, call.params.share, call.auditSource);
    },
  } satisfies Partial<Handlers>;
}
