import type { BatchDetail } from "@sluice/contract";
import { CopyText } from "../../../components/copy-button.tsx";
import { FactRow } from "../../../components/facts.tsx";
import { When } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/batches.ts";
import { endpointWords } from "../../requests/endpoint-words.ts";
import { KeyLink } from "../../requests/key-link.tsx";
import { isOpen } from "../batch-progress.tsx";

const apiWords = {
  openai: t("batches.apis.openai"),
  anthropic: t("batches.apis.anthropic"),
  gemini: t("batches.apis.gemini"),
} as const;

/** The source of the rows, who runs them, and when. */
export function BatchFacts({ batch }: { readonly batch: BatchDetail }) {
  const { key, workspace, provider, model } = batch;
  const metadata = Object.entries(batch.metadata);
  return (
    <Section title={t("batches.facts.title")}>
      <dl className="facts-list">
        <FactRow name={t("batches.facts.id")}>
          <CopyText value={batch.api_id} label={t("batches.facts.copyId")} />
        </FactRow>
        <FactRow name={t("batches.facts.api")}>
          {[apiWords[batch.api], endpointWords[batch.endpoint] ?? batch.endpoint].join(", ")}
        </FactRow>
        <FactRow name={t("batches.facts.model")}>{model === "" ? t("batches.columns.models") : model}</FactRow>
        <FactRow name={t("batches.facts.runBy")}>
          {provider === null ? t("batches.facts.gateway") : t("batches.facts.vendor", { provider })}
        </FactRow>
        <FactRow name={t("batches.facts.key")}>
          <KeyLink id={key.id} workspace={workspace.slug}>
            {key.name || key.id}
          </KeyLink>
        </FactRow>
        <FactRow name={t("batches.facts.input")}>
          {batch.input_file === null ? (
            t("batches.facts.inline")
          ) : (
            <CopyText value={batch.input_file} label={t("batches.facts.copyId")} />
          )}
        </FactRow>
        <FactRow name={t("batches.facts.created")}>
          <When at={batch.created_at} />
        </FactRow>
        {batch.cancel_at !== null && (
          <FactRow name={t("batches.facts.canceled")}>
            <When at={batch.cancel_at} />
          </FactRow>
        )}
        {isOpen(batch) ? (
          <FactRow name={t("batches.facts.expires")}>
            <When at={batch.expires_at} />
          </FactRow>
        ) : (
          <FactRow name={t("batches.facts.ended")}>
            <When at={batch.ended_at} />
          </FactRow>
        )}
        {batch.results.length > 0 && batch.results_until !== null && (
          <FactRow name={t("batches.facts.until")}>
            <When at={batch.results_until} exact />
          </FactRow>
        )}
        {metadata.length > 0 && (
          <FactRow name={t("batches.facts.metadata")}>
            {metadata.map(([name, value]) => `${name}: ${value}`).join(", ")}
          </FactRow>
        )}
      </dl>
    </Section>
  );
}
