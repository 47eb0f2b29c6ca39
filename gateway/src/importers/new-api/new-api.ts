import { defaultGroupName, usdMax } from "@sluice/contract/words";
import { isAddressRange, Secret } from "#core/index.ts";
import type { ImportDraft, ImportedKey, ImportedUser } from "#ports/index.ts";
import { Accounts } from "../accounts.ts";
import { usdOf } from "../budgets.ts";
import { emailIn } from "../emails.ts";
import { flagIn, type Loose, numberIn, textIn } from "../loose.ts";
import { lineOf, slugOf, UniqueNames } from "../names.ts";
import { Notes } from "../notes.ts";
import { modelsOfChannels, namesIn } from "./channels.ts";
import type { NewApiInput } from "./new-api-input.ts";

/** 500,000 units of quota are 1 USD. */
const quotaOfUsd = 500_000;
const slug = "new-api";

/**
 * new-api has no tenants: everything becomes one workspace. Its groups are tiers of access to models, as ours. The quota of a user is the
 * budget of the member, and the quota of a token the budget of the key, both without an end.
 */
export function fromNewApi(input: NewApiInput): ImportDraft {
  const notes = new Notes();
  const accounts = new Accounts("new-api");
  const { models, groups } = modelsOfChannels(input, accounts, notes);
  const slugs = new UniqueNames();
  const names = new Set([...groups.keys(), ...input.tables.users.map(groupIn), ...input.tables.tokens.map(groupIn)]);
  names.delete("");
  names.delete("auto");
  const groupNames = new Map([...names].map((name) => [name, slugs.take(slugOf(name, "group"))]));
  const every = models.length;
  const drafted = [...groupNames].map(([name, group]) => {
    const own = [...(groups.get(name) ?? [])];
    return { name: group, ...(own.length === every ? {} : { models: own.slice(0, 1_000) }) };
  });
  noteSharedChannels(input, notes);
  const users = new Map(input.tables.users.map((row) => [String(row["id"]), row]));
  const members = input.tables.users.flatMap((row) => memberOf(row, notes));
  const emails = new Set(members.map(({ email }) => email));
  const keyNames = new UniqueNames();
  const keys = input.tables.tokens.flatMap((row) => {
    const user = users.get(String(row["user_id"])) ?? {};
    const group = groupNames.get(groupIn(row)) ?? groupNames.get(groupIn(user)) ?? defaultGroupName;
    return keyOf(row, user, { group, emails, keyNames, notes, now: input.now });
  });
  return {
    product: "new-api",
    providers: accounts.providers,
    models,
    workspaces: [{ slug, name: "new-api", groups: drafted, keys }],
    users: members,
    budgets: [],
    notCarried: notes.list,
  };
}

const groupIn = (row: Loose): string => textIn(row, "group") ?? "";

function memberOf(row: Loose, notes: Notes): readonly ImportedUser[] {
  const name = textIn(row, "username") ?? String(row["id"]);
  const email = emailIn(row, "email");
  if ((numberIn(row, "role") ?? 1) >= administratorRole)
    notes.add(`administrator ${name}`, "make them an administrator by hand");
  if (email === null) {
    notes.add(
      `user ${name}`,
      "a user needs an email address; their quota is not imported, and their keys have no owner",
    );
    return [];
  }
  return [
    {
      email,
      name: lineOf(name).slice(0, 128),
      workspaces: [{ workspace: slug, role: "member", ...quotaOf(row, "quota") }],
    },
  ];
}

const administratorRole = 10;

/** `left`: the column with the rest. */
function quotaOf(row: Loose, left: string) {
  const used = Math.max(0, numberIn(row, "used_quota") ?? 0) / quotaOfUsd;
  const usd = Math.max(0, (numberIn(row, left) ?? 0) / quotaOfUsd) + used;
  if (usd > usdMax) return {};
  return { budget: { usd: usdOf(usd), period: "total" as const }, ...(used > 0 ? { spent: usdOf(used) } : {}) };
}

interface KeyContext {
  readonly group: string;
  readonly emails: ReadonlySet<string>;
  readonly keyNames: UniqueNames;
  readonly notes: Notes;
  readonly now: number;
}

function keyOf(row: Loose, user: Loose, { group, emails, keyNames, notes, now }: KeyContext): readonly ImportedKey[] {
  const key = textIn(row, "key");
  const owner = textIn(user, "username") ?? `user ${row["user_id"]}`;
  const name = keyNames.take(lineOf(`${owner} ${textIn(row, "name") ?? row["id"]}`));
  const label = `key ${name}`;
  const expires = numberIn(row, "expired_time") ?? -1;
  const status = numberIn(row, "status");
  if (key === null || row["deleted_at"] != null) return [];
  if (status === expired || (expires > 0 && expires * 1_000 <= now)) {
    notes.add(label, "it has expired");
    return [];
  }
  const email = emailIn(user, "email");
  const lines = (textIn(row, "allow_ips") ?? "").split(/[\s,]+/).filter((line) => line !== "");
  const ranges = lines.filter(isAddressRange);
  if (ranges.length < lines.length) notes.add(label, "some of `allow_ips` are no addresses or ranges");
  const isEnabled = (status === enabled || status === exhausted) && numberIn(user, "status") !== disabled;
  return [
    {
      ...{ name, group, secret: new Secret(`sk-${key.replace(/^sk-/, "")}`) },
      ...(email !== null && emails.has(email) ? { owner: email } : {}),
      ...(isEnabled ? {} : { enabled: false }),
      ...(expires > 0 ? { expires_at: new Date(expires * 1_000).toISOString() } : {}),
      ...(flagIn(row, "unlimited_quota") ? {} : quotaOf(row, "remain_quota")),
      ...(flagIn(row, "model_limits_enabled") ? { models: [...namesIn(row, "model_limits")].slice(0, 1_000) } : {}),
      ...(lines.length === 0 ? {} : { allowed_ips: ranges.slice(0, 1_000) }),
    },
  ];
}

const [enabled, disabled, expired, exhausted] = [1, 2, 3, 4];

/** A group chooses channels there, and models here. */
function noteSharedChannels({ tables }: NewApiInput, notes: Notes): void {
  const groupsByModel = new Map<string, Set<string>>();
  for (const channel of tables.channels) {
    const groups = namesIn(channel, "group").toSorted().join(",");
    for (const model of namesIn(channel, "models")) {
      groupsByModel.set(model, (groupsByModel.get(model) ?? new Set()).add(groups));
    }
  }
  for (const [model, groups] of groupsByModel) {
    if (groups.size > 1)
      notes.add(
        `model ${model}`,
        "its channels are for different groups; here every group with the model uses each channel",
      );
  }
}
