import { oneLine } from "#core/index.ts";
import type { ImportSources } from "#importers/index.ts";
import type { Control } from "#main.ts";
import type { EntryOfBalance, ImportDraft, ImportProduct, ImportResult, NotCarried, UndoResult } from "#ports/index.ts";
import type { CliCommand } from "../cli-command.ts";
import { auditSource, withControl } from "../open.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { expanded } from "./expanded.ts";
import type { ImportOptions, ReadProduct } from "./import-options.ts";
import { planLines } from "./plan-lines.ts";

export async function importFrom(product: ImportProduct, options: ImportOptions, command: CliCommand): Promise<void> {
  const { terminal } = command;
  if (options.apply === true && options.plan === true) throw new UsageError("use --plan or --apply, not both");
  await withControl(terminal.variables, async (control) => {
    if (options.undo !== undefined) {
      const undone = await control.controlStore.undoImport(options.undo, auditSource);
      await command.report(undone, undoLines(options.undo, undone));
      return;
    }
    if (options.from === undefined && options.database === undefined) {
      throw new UsageError("name what to read with --from or --database");
    }
    const apply = options.apply === true;
    const read = await (await readerOf(product))(options, terminal, await sourcesOf(control));
    const { draft, missing } = expanded(read.draft, { ...read.variables, ...terminal.variables }, !apply);
    if (apply && missing.length > 0) {
      throw new CommandFailed(`set these variables, or remove their providers at the source: ${missing.join(", ")}`);
    }
    await refuseInvalid(draft);
    const result = await control.controlStore.runImport(draft, { apply, entryOf: await entryOfBalance() }, auditSource);
    const notCarried = [...result.skipped, ...draft.notCarried];
    await command.report(
      {
        product,
        applied: apply,
        id: result.id,
        changes: textsOf(result),
        unchanged: result.unchanged,
        missing,
        not_carried: notCarried,
      },
      [
        ...planLines(draft, result),
        ...notCarriedLines(notCarried),
        ...missingLines(missing),
        ...endLines(product, apply, result),
        // Names of the other gateway must not control the terminal.
      ].map(oneLine),
    );
  });
}

async function readerOf(product: ImportProduct): Promise<ReadProduct> {
  switch (product) {
    case "litellm":
      return (await import("./read-litellm.ts")).readLiteLlm;
    case "bifrost":
      return (await import("./read-bifrost.ts")).readBifrost;
    case "openrouter":
      return (await import("./read-exports.ts")).readOpenRouter;
    case "portkey":
      return (await import("./read-exports.ts")).readPortkey;
    case "new-api":
      return (await import("./read-new-api.ts")).readNewApi;
  }
}

async function entryOfBalance(): Promise<EntryOfBalance> {
  const { adjustmentEntry } = await import("#ledger/index.ts");
  return ({ importId, at, nanoUsd, ...owner }) =>
    adjustmentEntry({
      ...{ id: importId, reason: "opening_balance", adjusts: importId, at, costNanoUsd: nanoUsd },
      ...{ provider: "", model: "", owner: { ...owner, tags: {} } },
    });
}

async function sourcesOf({ controlStore, clock }: Control): Promise<ImportSources> {
  const { priceListData, priceSource } = await import("#providers/index.ts");
  const { data } = await priceListData(await controlStore.storedPriceList());
  const now = clock.now();
  return { listPrice: priceSource(data, now).price, now };
}

/** Checks the draft as a config file, before anything is made. */
async function refuseInvalid(draft: ImportDraft): Promise<void> {
  const { configSchema } = await import("@sluice/contract/config-file");
  const { conflictsOf, defaultGroupName, pathText } = await import("@sluice/contract/words");
  const config = {
    providers: draft.providers,
    models: draft.models.map(({ price_origin: _origin, ...model }) => model),
    workspaces: draft.workspaces.map(({ keys, groups, spent: _spent, ...workspace }) => ({
      ...workspace,
      // Every workspace has the group `default`.
      groups: [...(groups ?? []), { name: defaultGroupName }]
        .map(({ spent: _spent, ...group }: { readonly name: string; readonly spent?: number | undefined }) => group)
        .filter(({ name }, at, all) => all.findIndex((group) => group.name === name) === at),
      keys: keys.map(({ secret: _secret, owner: _owner, spent: _spent, ...key }) => key),
    })),
    budgets: draft.budgets,
    users: draft.users.map(({ workspaces, ...user }) => ({
      ...user,
      workspaces: workspaces.map(({ spent: _spent, ...place }) => place),
    })),
  };
  const checked = configSchema.safeParse(config);
  const issue = checked.error?.issues[0];
  if (issue !== undefined) throw unusable(pathText(issue.path as (string | number)[]), issue.message);
  const [conflict] = conflictsOf(checked.data ?? {});
  if (conflict !== undefined) throw unusable(pathText(conflict.path), conflict.message);
}

function unusable(path: string, message: string): CommandFailed {
  return new CommandFailed(`${path}: ${message}; nothing was made`);
}

function textsOf({ changes }: Pick<ImportResult, "changes">): readonly string[] {
  return changes.map(({ text }) => text);
}

function notCarriedLines(notCarried: readonly NotCarried[]): readonly string[] {
  if (notCarried.length === 0) return [];
  return ["", "Not imported:", ...notCarried.map(({ object, reason }) => `  ${object}: ${reason}`)];
}

function missingLines(missing: readonly string[]): readonly string[] {
  return missing.length === 0 ? [] : ["", `Set before --apply: ${missing.join(", ")}`];
}

function endLines(product: ImportProduct, apply: boolean, { id, changes, unchanged }: ImportResult): readonly string[] {
  const before = unchanged === 0 ? "" : `; ${unchanged} are there from an earlier import`;
  if (changes.length === 0) return ["", `nothing to import${before}`];
  if (!apply) return ["", `nothing was made${before}; use --apply to import`];
  return ["", `imported as ${id}${before}; undo it with \`sluice import ${product} --undo ${id}\``];
}

function undoLines(id: string, { changes, remaining }: UndoResult): readonly string[] {
  const removed = changes.filter(
    ({ action, object }) => action === "remove" && !/^(?:import|deployment) /.test(object),
  );
  return [
    ...removed.map(({ object }) => `- ${object}`),
    ...(remaining.length === 0
      ? []
      : ["", "Kept:", ...remaining.map(({ object, reason }) => `  ${object}: ${reason}`)]),
    "",
    `undid ${id}: ${removed.length} removed, ${remaining.length} kept`,
  ];
}
