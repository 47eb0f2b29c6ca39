import type { BillDayDetail, BillDayRow, PriceConfig } from "@sluice/contract";
import type { BillClass } from "@sluice/contract/words";
import { columnsOf, Failure, invalidRequest, nanoToUsd, orNotFound, picoToUsd, priceConfigOf } from "#core/index.ts";
import { deploymentDraft } from "#directory/index.ts";
import type { ModelDraft, ModelRecord } from "#ports/index.ts";
import type { BillDayTotals, LineView, ShownDay } from "#reconciliation/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { applier, type ConsoleCall, type Handlers } from "./calls.ts";

type LineCall = ConsoleCall<"reconciliation.accept" | "reconciliation.takePrice" | "reconciliation.explain">;

export function reconciliationHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, people } = dependencies;
  const applied = applier(dependencies);
  const open = () => dependencies.reconciliation();
  const daysOf = async (provider: string, from: string, to: string) => ({
    data: (await (await open()).days(provider, from, to)).map(dayRow),
  });
  /** Notes the action in the audit log once it succeeded. */
  const noted = async (action: "approve" | "update", call: LineCall, written: Promise<ShownDay>) => {
    const shown = await written;
    const { provider, day, model, usageClass } = nameIn(call);
    const object = `bill ${provider} ${day} ${model} ${usageClass}` as const;
    await people.note({ action, object, workspaceId: null }, call.auditSource);
    return dayDetail(shown);
  };
  return {
    "reconciliation.list": async ({ query }) => {
      const reconciliation = await open();
      const sources = (await reconciliation.sources()).filter(
        ({ provider }) => query.provider === undefined || provider === query.provider,
      );
      const data = await reconciliation.days(query.provider ?? null, query.from, query.to);
      return { sources: sources.map((source) => columnsOf(source)), data: data.map(dayRow) };
    },
    "reconciliation.read": async ({ params, body, signal }) => {
      const { from, to } = body;
      if ((from === undefined) !== (to === undefined))
        throw invalidRequest("to", "Send both `from` and `to`, or neither.");
      const days = from === undefined || to === undefined ? null : { from, to };
      const read = await (await open()).read(params.provider, days, signal);
      return await daysOf(params.provider, read.from, read.to);
    },
    "reconciliation.upload": async ({ params, body, auditSource }) => {
      const { from, to } = await (await open()).putFile(params.provider, body.text, body.format ?? null);
      const object = `bill ${params.provider} ${from} to ${to}` as const;
      await people.note({ action: "update", object, workspaceId: null }, auditSource);
      return await daysOf(params.provider, from, to);
    },
    "reconciliation.show": async ({ params }) => dayDetail(await (await open()).show(params.provider, params.day)),
    "reconciliation.accept": async (call) =>
      await noted("approve", call, (await open()).accept(nameIn(call), actingBy(call))),
    "reconciliation.explain": async (call) =>
      await noted("update", call, (await open()).explain(nameIn(call), call.body.note, actingBy(call))),
    "reconciliation.takePrice": async (call) => {
      const reconciliation = await open();
      const name = nameIn(call);
      const line = await reconciliation.line(name);
      const { our_model: model } = call.body;
      const field = priceFields[name.usageClass];
      if (line.vendorPicoUsd === null || field === undefined) {
        throw new Failure("conflict", "The vendor's price of this line is not different, or it cannot be set here.");
      }
      if (!line.ourModels.includes(model))
        throw invalidRequest("our_model", "`our_model` is not a model of this line.");
      const price = picoToUsd(line.vendorPicoUsd, "million");
      const record = orNotFound(await controlStore.model(model), "model", "our_model");
      if (record.price === null)
        throw new Failure("conflict", `The model ${model} has no price. Set a whole price first.`);
      const change = (before: ModelRecord) => withPrice(before, field, price);
      await applied(controlStore.updateModel(model, change, call.auditSource));
      const note = `${model}: ${field} ${price} USD per million tokens`;
      return await noted("update", call, reconciliation.notePrice(name, note, actingBy(call)));
    },
  } satisfies Partial<Handlers>;
}

/** The fields of a price by the class of a bill. */
const priceFields: { readonly [Class in BillClass]?: keyof PriceConfig & string } = {
  input: "input",
  cache_read: "cache_read",
  cache_write: "cache_write_5m",
  output: "output",
};

function withPrice(before: ModelRecord, field: keyof PriceConfig, usd: number): ModelDraft {
  const { name, type, owned_by, fallbacks, max_output_tokens, context_window } = before;
  const current = before.price === null ? {} : priceConfigOf(before.price);
  return {
    ...{ name, type, owned_by, fallbacks: [...fallbacks], max_output_tokens, context_window },
    price: { ...current, [field]: usd },
    deployments: before.deployments.map(deploymentDraft),
  };
}

function nameIn({ params, body }: LineCall) {
  return { provider: params.provider, day: params.day, model: body.model, usageClass: body.class };
}

function actingBy({ actor, auditSource }: LineCall) {
  return { userId: actor.userId, auditSource };
}

function dayRow(day: BillDayTotals): BillDayRow {
  const { provider, day: date, source, readAt, differingNanoUsd } = day;
  return {
    ...{ provider, day: date, source, read_at: readAt, state: differingNanoUsd === 0 ? "matched" : "different" },
    our_usd: nanoToUsd(day.ourNanoUsd),
    their_usd: nanoToUsd(day.theirNanoUsd),
    differing_usd: nanoToUsd(differingNanoUsd),
    estimated_usd: nanoToUsd(day.estimatedNanoUsd),
    foreign_usd: nanoToUsd(day.foreignNanoUsd),
  };
}

function dayDetail({ lines, ...day }: ShownDay): BillDayDetail {
  return { ...dayRow(day), lines: lines.map(lineRow) };
}

function lineRow({ vendorPicoUsd, ...line }: LineView): BillDayDetail["lines"][number] {
  return {
    model: line.model,
    class: line.usageClass,
    our_models: [...line.ourModels],
    our_units: line.ourUnits,
    our_usd: nanoToUsd(line.ourNanoUsd),
    adjusted_usd: nanoToUsd(line.adjustedNanoUsd),
    their_units: line.theirUnits,
    their_usd: nanoToUsd(line.theirNanoUsd),
    difference_usd: nanoToUsd(line.differenceNanoUsd),
    state: line.state,
    causes: line.causes.map(({ cause, units, nanoUsd }) => ({ cause, units, usd: nanoToUsd(nanoUsd) })),
    vendor_price: vendorPicoUsd === null ? null : picoToUsd(vendorPicoUsd, "million"),
    decisions: line.decisions.map(({ action, amountNanoUsd, note, actor, at }) => ({
      ...{ action, usd: nanoToUsd(amountNanoUsd), note, actor, at },
    })),
  };
}
