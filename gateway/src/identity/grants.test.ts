import { expect, test } from "bun:test";
import { type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import { type Actor, Failure, type Grant, leastOf, type Rights, roleIn } from "#core/index.ts";
import {
  checkGrant,
  checkInvitationRevoke,
  checkMemberRemoval,
  checkRoleChange,
  covers,
  mayInvite,
  mayRevokeToken,
} from "./grants.ts";

const acme = "ws_acme";
const rank = (role: WorkspaceRole) => workspaceRoles.indexOf(role);

function actor(role: WorkspaceRole | "administrator" | null, more: Partial<Actor> = {}): Actor {
  const roles = new Map(role === null || role === "administrator" ? [] : [[acme, role] as const]);
  const administrator = role === "administrator";
  return { kind: "user", userId: "usr_1", name: "ada@example.com", fresh: true, administrator, roles, ...more };
}

const grant = (role: WorkspaceRole, workspaceId = acme): Grant => ({ administrator: false, workspaceId, role });
const everything: Grant = { administrator: true };

function codeOf(act: () => void): string {
  try {
    act();
    return "allowed";
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.code : String(thrown);
  }
}

test("nobody gives a role above their own, or any role elsewhere, or the whole installation", () => {
  for (const held of workspaceRoles) {
    for (const given of workspaceRoles) {
      const allowed = rank(given) <= rank(held);
      expect(`${held} ${given} ${codeOf(() => checkGrant(actor(held), grant(given)))}`).toBe(
        `${held} ${given} ${allowed ? "allowed" : "forbidden"}`,
      );
      expect(covers(actor(held), grant(given))).toBe(allowed);
      expect(codeOf(() => checkGrant(actor(held), grant(given, "ws_other")))).toBe("forbidden");
    }
    expect(codeOf(() => checkGrant(actor(held), everything))).toBe("forbidden");
  }
  for (const given of workspaceRoles)
    expect(codeOf(() => checkGrant(actor("administrator"), grant(given)))).toBe("allowed");
  expect(codeOf(() => checkGrant(actor("administrator"), everything))).toBe("allowed");
  expect(codeOf(() => checkGrant(actor(null), grant("viewer")))).toBe("forbidden");
});

test("a role is changed only where both the old and the new one are within one's own", () => {
  for (const held of workspaceRoles) {
    for (const before of workspaceRoles) {
      for (const after of workspaceRoles) {
        const allowed = rank(before) <= rank(held) && rank(after) <= rank(held);
        const outcome = codeOf(() => checkRoleChange(actor(held), acme, { role: before }, after));
        expect([held, before, after, outcome]).toEqual([held, before, after, allowed ? "allowed" : "forbidden"]);
      }
    }
  }
});

test("anybody may leave; others are removed by admins, and never by somebody below them", () => {
  for (const held of workspaceRoles) {
    expect(codeOf(() => checkMemberRemoval(actor(held), acme, { id: "usr_1", role: held }))).toBe("allowed");
    for (const theirs of workspaceRoles) {
      const allowed = rank(held) >= rank("admin") && rank(theirs) <= rank(held);
      const outcome = codeOf(() => checkMemberRemoval(actor(held), acme, { id: "usr_2", role: theirs }));
      expect([held, theirs, outcome]).toEqual([held, theirs, allowed ? "allowed" : "forbidden"]);
    }
  }
});

test("a token with less than its maker holds does not take its maker out of a workspace", () => {
  const token = actor("viewer", { kind: "token", tokenId: "adt_1" });
  expect(codeOf(() => checkMemberRemoval(token, acme, { id: "usr_1", role: "owner" }))).toBe("forbidden");
});

test("an invitation is made and taken back by admins of its place, up to their own role", () => {
  for (const held of workspaceRoles) {
    for (const given of workspaceRoles) {
      const allowed = rank(held) >= rank("admin") && rank(given) <= rank(held);
      expect([held, given, mayInvite(actor(held), grant(given))]).toEqual([held, given, allowed]);
      expect([held, given, codeOf(() => checkInvitationRevoke(actor(held), grant(given)))]).toEqual([
        held,
        given,
        allowed ? "allowed" : "forbidden",
      ]);
    }
    expect(mayInvite(actor(held), everything)).toBe(false);
    expect(codeOf(() => checkInvitationRevoke(actor(held), everything))).toBe("not_found");
    expect(codeOf(() => checkInvitationRevoke(actor(held), grant("viewer", "ws_other")))).toBe("not_found");
  }
  expect(mayInvite(actor("administrator"), everything)).toBe(true);
  expect(codeOf(() => checkInvitationRevoke(actor("administrator"), everything))).toBe("allowed");
});

test("a token is revoked by its maker, by an administrator, by itself, and by no weaker token of its maker", () => {
  const token = { id: "adt_1", ownerId: "usr_1", grant: grant("owner") };
  expect(mayRevokeToken(actor(null), token)).toBe(true);
  expect(mayRevokeToken(actor("owner", { userId: "usr_2" }), token)).toBe(false);
  expect(mayRevokeToken(actor("administrator", { userId: "usr_2" }), token)).toBe(true);
  expect(mayRevokeToken(actor("viewer", { kind: "token", tokenId: "adt_2" }), token)).toBe(false);
  expect(mayRevokeToken(actor("viewer", { kind: "token", tokenId: "adt_1" }), token)).toBe(true);
  expect(mayRevokeToken(actor("owner", { kind: "token", tokenId: "adt_2" }), token)).toBe(true);
});

test("what a token may do is never more than its grant and never more than its maker may do now", () => {
  const makers: readonly Rights[] = [actor(null), ...workspaceRoles.map((role) => actor(role)), actor("administrator")];
  for (const maker of makers) {
    for (const given of workspaceRoles) {
      const least = leastOf(grant(given), maker);
      const held = roleIn(maker, acme);
      const role = held === null ? null : rank(held) < rank(given) ? held : given;
      expect([least.administrator, roleIn(least, acme), roleIn(least, "ws_other")]).toEqual([false, role, null]);
    }
    const whole = leastOf(everything, maker);
    expect([whole.administrator, roleIn(whole, acme)]).toEqual([maker.administrator, roleIn(maker, acme)]);
  }
});
