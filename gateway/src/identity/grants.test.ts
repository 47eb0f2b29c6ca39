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

test("refuses to grant a role above the granter's, a role in another workspace, or administrator rights", () => {
  for (const held of workspaceRoles) {
    for (const role of workspaceRoles) {
      const allowed = rank(role) <= rank(held);
      expect(`${held} ${role} ${codeOf(() => checkGrant(actor(held), grant(role)))}`).toBe(
        `${held} ${role} ${allowed ? "allowed" : "forbidden"}`,
      );
      expect(covers(actor(held), grant(role))).toBe(allowed);
      expect(codeOf(() => checkGrant(actor(held), grant(role, "ws_other")))).toBe("forbidden");
    }
    expect(codeOf(() => checkGrant(actor(held), everything))).toBe("forbidden");
  }
  for (const role of workspaceRoles)
    expect(codeOf(() => checkGrant(actor("administrator"), grant(role)))).toBe("allowed");
  expect(codeOf(() => checkGrant(actor("administrator"), everything))).toBe("allowed");
  expect(codeOf(() => checkGrant(actor(null), grant("viewer")))).toBe("forbidden");
});

test("refuses to change a role if the old or the new one is above the actor's", () => {
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

test("lets every member leave, and admins remove members up to their own role", () => {
  for (const held of workspaceRoles) {
    expect(codeOf(() => checkMemberRemoval(actor(held), acme, { id: "usr_1", role: held }))).toBe("allowed");
    for (const theirs of workspaceRoles) {
      const allowed = rank(held) >= rank("admin") && rank(theirs) <= rank(held);
      const outcome = codeOf(() => checkMemberRemoval(actor(held), acme, { id: "usr_2", role: theirs }));
      expect([held, theirs, outcome]).toEqual([held, theirs, allowed ? "allowed" : "forbidden"]);
    }
  }
});

test("refuses to remove a token's owner with a token below the owner's role", () => {
  const token = actor("viewer", { kind: "token", tokenId: "adt_1" });
  expect(codeOf(() => checkMemberRemoval(token, acme, { id: "usr_1", role: "owner" }))).toBe("forbidden");
});

test("lets admins create and revoke invitations to their workspace, up to their own role", () => {
  for (const held of workspaceRoles) {
    for (const role of workspaceRoles) {
      const allowed = rank(held) >= rank("admin") && rank(role) <= rank(held);
      expect([held, role, mayInvite(actor(held), grant(role))]).toEqual([held, role, allowed]);
      expect([held, role, codeOf(() => checkInvitationRevoke(actor(held), grant(role)))]).toEqual([
        held,
        role,
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

test("lets a token be revoked by its owner, by administrators and by itself, but not by a weaker token of its owner", () => {
  const token = { id: "adt_1", ownerId: "usr_1", grant: grant("owner") };
  expect(mayRevokeToken(actor(null), token)).toBe(true);
  expect(mayRevokeToken(actor("owner", { userId: "usr_2" }), token)).toBe(false);
  expect(mayRevokeToken(actor("administrator", { userId: "usr_2" }), token)).toBe(true);
  expect(mayRevokeToken(actor("viewer", { kind: "token", tokenId: "adt_2" }), token)).toBe(false);
  expect(mayRevokeToken(actor("viewer", { kind: "token", tokenId: "adt_1" }), token)).toBe(true);
  expect(mayRevokeToken(actor("owner", { kind: "token", tokenId: "adt_2" }), token)).toBe(true);
});

test("limits a token to its grant and to the current rights of its owner", () => {
  const owners: readonly Rights[] = [actor(null), ...workspaceRoles.map((role) => actor(role)), actor("administrator")];
  for (const owner of owners) {
    for (const role of workspaceRoles) {
      const least = leastOf(grant(role), owner);
      const held = roleIn(owner, acme);
      const effective = held === null ? null : rank(held) < rank(role) ? held : role;
      expect([least.administrator, roleIn(least, acme), roleIn(least, "ws_other")]).toEqual([false, effective, null]);
    }
    const whole = leastOf(everything, owner);
    expect([whole.administrator, roleIn(whole, acme)]).toEqual([owner.administrator, roleIn(owner, acme)]);
  }
});
