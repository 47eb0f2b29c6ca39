import { storedObjectKinds } from "@sluice/contract/words";
import { columnsOf, withoutUndefined } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { visiblePerson } from "./callers.ts";
import { type Handlers, oneWorkspace } from "./calls.ts";
import { keyNames } from "./key-names.ts";

const listMax = 100;

export function storedObjectHandlers(dependencies: ConsoleDependencies) {
  const { objectStore, clock } = dependencies;
  const { namesOf } = keyNames(dependencies);
  return {
    async "storedObjects.list"(call) {
      const { kind, key: keyId } = call.query;
      const objects = await objectStore.newest(oneWorkspace(call).id, {
        ...{ kinds: kind === undefined ? storedObjectKinds : [kind], now: clock.now(), limit: listMax },
        ...withoutUndefined({ keyId, visiblePerson: visiblePerson(call) ?? undefined }),
      });
      const names = await namesOf(objects.map((object) => object.keyId));
      const data = objects.map(({ id, kind: stored, keyId: of, provider, model, createdAt, expiresAt }) => ({
        ...columnsOf({ id, provider, model, createdAt, expiresAt }),
        kind: stored as (typeof storedObjectKinds)[number],
        key: { id: of, name: names.get(of) ?? "" },
      }));
      return { data };
    },
  } satisfies Partial<Handlers>;
}
