import { describe, expect, test } from "bun:test";
import { bounds, Secret } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { PeopleFixture } from "./people-facts.ts";
import { by } from "./store-fixture.ts";

type Fixture = PeopleFixture & { readonly controlStore: ControlStore };

/** Key requests on every database. */
export function keyRequestSuite(name: string, make: () => Promise<Fixture>): void {
  describe(`key requests in ${name}`, () => {
    test("accepts one of two concurrent decisions, and names the decider in the other answer", async () => {
      await using fixture = await make();
      const { controlStore, acme } = fixture;
      const { ada, ask } = await withRequester(fixture);
      const bob = await fixture.user("bob");
      const { id } = await ask("ci");
      const both = await Promise.allSettled([
        controlStore.approveKeyRequest(acme, id, { approverId: bob, changes: {} }, by("bob")),
        controlStore.declineKeyRequest(acme, id, { deciderId: bob, reason: "no" }, by("bob")),
      ]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const lost = both.find((each) => each.status === "rejected");
      expect(lost?.reason).toMatchObject({ code: "conflict" });
      expect(lost?.reason.message).toContain("by bob@example.com");
      expect((await controlStore.keyRequests({ workspaceId: acme, requesterId: ada }, null, 10)).data).toHaveLength(1);
    });

    test("creates one key when two collect at once", async () => {
      await using fixture = await make();
      const { controlStore, acme } = fixture;
      const { ada, ask } = await withRequester(fixture);
      const { id } = await ask("ci");
      await controlStore.approveKeyRequest(acme, id, { approverId: ada, changes: {} }, by("ada"));
      const collect = (secret: string) =>
        controlStore.collectKey(
          ...([acme, id] as const),
          { userId: ada, secret: new Secret(secret), name: null, setByAdmins: () => [] },
          by("ada"),
        );
      const both = await Promise.allSettled([collect("sk-one-0123456789"), collect("sk-two-0123456789")]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect(await controlStore.listKeys(acme)).toHaveLength(1);
    });

    test("expires open requests and approvals, and deletes a person's oldest closed requests", async () => {
      await using fixture = await make();
      const { controlStore, acme, clock } = fixture;
      const { ada, ask } = await withRequester(fixture);
      const first = await ask("first");
      await controlStore.approveKeyRequest(acme, first.id, { approverId: ada, changes: {} }, by("ada"));
      await ask("second");
      const inState = async (state: "pending" | "approved" | "expired") =>
        (await controlStore.keyRequests({ workspaceId: acme, state }, null, 10)).data.map(
          ({ requested }) => requested.name,
        );
      expect([await inState("pending"), await inState("approved")]).toEqual([["second"], ["first"]]);
      clock.advance(bounds.keyRequestMs);
      expect([await inState("pending"), await inState("approved")]).toEqual([[], []]);
      expect(await inState("expired")).toEqual(["second", "first"]);
      for (let n = 0; n < bounds.keyRequestsKeptMax; n++) {
        const { id } = await ask(`n${n}`);
        await controlStore.withdrawKeyRequest(acme, id, ada, by("ada"));
      }
      const stored = await controlStore.keyRequests({ workspaceId: acme, requesterId: ada }, null, 200);
      expect(stored.data).toHaveLength(bounds.keyRequestsKeptMax);
      expect(await inState("expired")).toEqual([]);
    });
  });
}

async function withRequester({ controlStore, people, acme, user }: Fixture) {
  const ada = await user("ada");
  await people.setMember(acme, ada, "viewer", by("test"));
  const ask = (name: string) => controlStore.createKeyRequest(acme, ada, { name, purpose: "tests" }, by("ada"));
  return { ada, ask };
}
