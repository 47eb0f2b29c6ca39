import { type Check, type Finding, placeOf } from "./finding.ts";

const requestsMax = 200;

/** Key requests that wait for an admin, and approved keys that the caller has not collected. */
export const checkRequests: Check = async ({ workspace, actor, person }, { controlStore }) => {
  const workspaceId = workspace?.id ?? null;
  const pending = { workspaceId, state: "pending" } as const;
  const { data } = person === null ? await controlStore.keyRequests(pending, null, requestsMax) : { data: [] };
  const waiting = [...Map.groupBy(data, (request) => request.workspace.id).values()].flatMap((some): Finding[] => {
    const [first] = some;
    if (first === undefined) return [];
    const { id, slug } = first.workspace;
    return [
      {
        ...{ severity: "notice", code: "key_requests_pending", params: { name: slug, count: some.length } },
        ...{ workspace: placeOf({ id, slug }), subject: { kind: "workspace", id, name: slug }, weight: some.length },
      },
    ];
  });
  const own = { workspaceId, requesterId: actor.userId, state: "approved" } as const;
  const approved = await controlStore.keyRequests(own, null, requestsMax);
  return [
    ...waiting,
    ...approved.data.map(({ id, granted, requested, workspace: home }): Finding => {
      const { name } = granted ?? requested;
      return {
        ...{ severity: "notice", code: "key_request_approved", params: { name } },
        ...{ workspace: placeOf(home), subject: { kind: "key_request", id, name } },
      };
    }),
  ];
};
