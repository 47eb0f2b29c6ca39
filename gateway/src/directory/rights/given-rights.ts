import { Failure } from "#core/index.ts";
import type { RightsSource } from "#ports/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { endAgents, placeKeys } from "../agents/agent-persons.ts";
import { readFilePeople } from "../people/file-people.ts";
import { dropMember, putMember, refuseOwnerless, roleOf } from "../people/members.ts";
import { refuseUngoverned, userRow } from "../people/people-rows.ts";
import { changeUser } from "../people/users.ts";
import { deleteRows } from "../rows.ts";
import type { Write } from "../store.ts";
import {
  byHand,
  type GivenRow,
  givenRows,
  type HeldRole,
  highestRole,
  installation,
  isWorkspaceRole,
  manualRow,
  rank,
  sourceName,
} from "./given-rows.ts";

/** What a source gives somebody in one place (`installation`, or a workspace's id). */
export type Given = Pick<GivenRow, "workspace_id" | "role" | "group_id" | "rules">;

export interface Giving {
  readonly userId: string;
  readonly source: RightsSource;
  /** All that it gives. What it gave before and gives no more is taken away. */
  readonly given: readonly Given[];
  readonly keptSession: string | null;
}

/**
 * Gives somebody what a source gives them now. The same twice changes nothing. First what
 * they gain, then what they lose. Resolves to what could not be taken away, in words: it is tried again the next time.
 */
export async function giveRights(under: Write, giving: Giving): Promise<readonly string[]> {
  const { transaction } = under;
  const { userId, source } = giving;
  // The config file says all of what its users hold.
  const people = await readFilePeople(transaction);
  if (people.users.includes(userId) || people.suspended.users.includes(userId)) return [];
  const before = await givenRows(transaction, userId);
  const old = before.filter((row) => row.source === source);
  const wanted = giving.given.map((given): GivenRow => ({ ...given, user_id: userId, source }));
  const others = before.filter((row) => row.source !== source);
  const places = new Set([...old, ...wanted].filter(({ role }) => role !== null).map((row) => row.workspace_id));
  const manual = await heldByHand(transaction, userId, before, places);
  let rows = [...others, ...manual, ...wanted];
  const moves: Move[] = [];
  for (const place of places) {
    const held = await heldIn(transaction, userId, place);
    const role = highestRole(rows.filter((row) => row.workspace_id === place));
    if (role !== held) moves.push({ place, held, role });
  }
  const kept: string[] = [];
  for (const move of moves.filter(({ held, role }) => rank(role) > rank(held))) await makeMove(under, giving, move);
  for (const move of moves.filter(({ held, role }) => rank(role) < rank(held))) {
    const refusal = await refusalOf(transaction, userId, move);
    if (refusal === null) {
      await makeMove(under, giving, move);
      continue;
    }
    kept.push(`${refusal} What ${sourceName(source)} gave stays until then.`);
    // The row stays too, so that the right is still the source's.
    const stays = old.filter((row) => row.workspace_id === move.place);
    rows = [...rows.filter((row) => row.source !== source || row.workspace_id !== move.place), ...stays];
  }
  await writeRows(transaction, userId, before, withoutIdle(rows));
  await placeKeys(under, userId);
  return kept;
}

interface Move {
  readonly place: string;
  readonly held: HeldRole | null;
  readonly role: HeldRole | null;
}

/** What they hold where no source gave a role until now was given by hand. */
async function heldByHand(
  connection: Connection,
  userId: string,
  before: readonly GivenRow[],
  places: ReadonlySet<string>,
): Promise<readonly GivenRow[]> {
  const found: GivenRow[] = [];
  for (const place of places) {
    if (before.some((row) => row.workspace_id === place && row.role !== null)) continue;
    const role = await heldIn(connection, userId, place);
    if (role !== null) found.push(manualRow(userId, place, role));
  }
  return found;
}

async function heldIn(connection: Connection, userId: string, place: string): Promise<HeldRole | null> {
  if (place !== installation) return await roleOf(connection, place, userId);
  return (await userRow(connection, userId)).administrator === 1 ? "administrator" : null;
}

async function makeMove(
  under: AuditedWrite,
  { userId, keptSession }: Giving,
  { place, role, held }: Move,
): Promise<void> {
  if (place === installation) {
    await changeUser(under, userId, { administrator: role !== null, keys: "disable", keptSession });
  } else if (isWorkspaceRole(role)) {
    await putMember(under, { workspaceId: place, userId, role, keptSession });
    if (rank(role) < rank(held)) await endAgents(under, { userId });
  } else {
    await dropMember(under, { workspaceId: place, userId, keys: "disable" });
  }
}

/** Why a loss cannot be; null: it can. */
async function refusalOf(connection: Connection, userId: string, { place, held }: Move): Promise<string | null> {
  try {
    if (place === installation) await refuseUngoverned(connection, await userRow(connection, userId));
    else if (held === "owner") await refuseOwnerless(connection, place, userId);
    return null;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "conflict") return thrown.message;
    throw thrown;
  }
}

/** Where no source gives a role any more, what is held by hand needs no row. */
function withoutIdle(rows: readonly GivenRow[]): readonly GivenRow[] {
  const governed = new Set(
    rows.filter((row) => row.source !== byHand && row.role !== null).map((row) => row.workspace_id),
  );
  return rows.filter((row) => row.source !== byHand || governed.has(row.workspace_id));
}

async function writeRows(
  connection: Connection,
  userId: string,
  before: readonly GivenRow[],
  after: readonly GivenRow[],
): Promise<void> {
  if (textOf(before) === textOf(after)) return;
  await deleteRows(connection, "given_rights", { user_id: userId });
  if (after.length > 0) await connection.insertInto("given_rights").values(after).execute();
}

function textOf(rows: readonly GivenRow[]): string {
  const texts = rows.map((row) => JSON.stringify([row.source, row.workspace_id, row.role, row.group_id, row.rules]));
  return texts.toSorted().join("\n");
}
