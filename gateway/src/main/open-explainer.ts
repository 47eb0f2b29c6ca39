import type { Settings } from "#core/index.ts";
import type { ContentSink, Observer } from "#ports/index.ts";
import { createExplainer, type ExplainWriter, type KeptExplainer } from "#storage/index.ts";
import { isSecretHeader, isShownHeader, type Metrics } from "#telemetry/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";

export interface ExplainerDependencies {
  readonly control: Control;
  readonly configSnapshot: ConfigSnapshotHolder;
  readonly observer: Observer;
  readonly metrics: Pick<Metrics, "numbers">;
  readonly writer: ExplainWriter | undefined;
  /** null: messages are not exported. */
  readonly content: ContentSink | null;
}

/** Where calls tell why they went as they did, and what of them is to be kept. */
export function openExplainer(dependencies: ExplainerDependencies): KeptExplainer {
  const { control, configSnapshot, observer, metrics, writer, content } = dependencies;
  const explainer = createExplainer({
    database: control.database,
    place: control.place,
    clock: control.clock,
    observer,
    hidesHeader: isSecretHeader,
    showsHeader: isShownHeader,
    content,
    ...(writer === undefined ? {} : { writer }),
    captureRetentionMs: () => configSnapshot.current.settings.captureRetentionDays * dayMs,
  });
  metrics.numbers({
    sluice_explanations_dropped_total: () => explainer.dropped.explanations,
    sluice_captures_dropped_total: () => explainer.dropped.captures,
  });
  return explainer;
}

/** What is too old now. An explanation never outlives its request's entries. */
export function explainedAges(settings: Settings, now: number): Parameters<KeptExplainer["prune"]>[0] {
  const explanationDays = Math.min(settings.explanationRetentionDays, settings.ledgerRetentionDays);
  return {
    explanationsBefore: now - explanationDays * dayMs,
    capturesBefore: now - settings.captureRetentionDays * dayMs,
    now,
  };
}

const dayMs = 86_400_000;
