import { Anchor, Group, Text } from "@mantine/core";
import type { AttemptDetail, Explanation } from "@sluice/contract";
import { shadowRefusedPrefix } from "@sluice/contract/words";
import { Link } from "@tanstack/react-router";
import { CopyText } from "../../../components/copy-button.tsx";
import { Duration, Money, When } from "../../../components/figures.tsx";
import { t } from "../../../language/areas/requests.ts";
import { useSession } from "../../../session/session-context.tsx";
import { PersonLink } from "../../people/person-link.tsx";
import { endpointWords } from "../endpoint-words.ts";
import { KeyLink } from "../key-link.tsx";
import { isFallback, modelOf, modelWords } from "../model-words.ts";
import { OutcomeCell } from "../outcome.tsx";
import { type Fact, FactList } from "./fact-list.tsx";
import { tokenClass } from "./token-classes.ts";

interface AttemptFactsProps {
  readonly attempt: AttemptDetail;
  readonly failure: Explanation["failures"][number] | null;
}

const retryWords = {
  never: t("requests.retries.never"),
  same: t("requests.retries.same"),
  other: t("requests.retries.other"),
} as const;

export function AttemptFacts({ attempt, failure }: AttemptFactsProps) {
  const isShadow = (warning: string) => warning.startsWith(shadowRefusedPrefix);
  const shadowRefused = attempt.warnings.filter(isShadow).map((warning) => warning.slice(shadowRefusedPrefix.length));
  const warnings = attempt.warnings.filter((warning) => !isShadow(warning));
  const tags = Object.entries(attempt.tags);
  return (
    <FactList
      facts={[
        [t("requests.attempt.outcome"), <OutcomeCell key="outcome" row={attempt} />],
        [t("requests.attempt.upstreamStatus"), attempt.upstream_status],
        [t("requests.attempt.error"), failure?.message],
        [t("requests.attempt.retry"), failure === null ? null : retryWords[failure.retry]],
        [t("requests.attempt.model"), <ModelLink key="model" attempt={attempt} />],
        [t("requests.attempt.provider"), <ProviderLink key="provider" provider={attempt.provider} />],
        [t("requests.attempt.upstreamModel"), attempt.upstream_model],
        [t("requests.attempt.endpoint"), endpointWords[attempt.endpoint] ?? attempt.endpoint],
        [t("requests.attempt.passThrough"), attempt.operation],
        [
          t("requests.attempt.batch"),
          attempt.batch_id === null ? null : <BatchLink key="batch" batch={attempt.batch_id} attempt={attempt} />,
        ],
        [t("requests.attempt.batchRow"), attempt.custom_id],
        [t("requests.attempt.protocols"), attempt.operation === null ? protocolsOf(attempt) : null],
        [
          attempt.operation === null ? t("requests.attempt.notCarried") : t("requests.attempt.warnings"),
          warnings.length === 0 ? null : <WarningList key="warnings" warnings={warnings} />,
        ],
        [
          t("requests.attempt.shadowRefused"),
          shadowRefused.length === 0 ? null : <WarningList key="shadow" warnings={shadowRefused} />,
        ],
        [t("requests.attempt.streamed"), attempt.stream ? t("requests.attempt.yes") : t("requests.attempt.no")],
        [
          t("requests.attempt.key"),
          <KeyLink key="key" id={attempt.key.id} workspace={attempt.workspace.slug}>
            {attempt.key.name || attempt.key.id}
          </KeyLink>,
        ],
        [t("requests.attempt.person"), personOf(attempt.person, attempt)],
        [t("requests.attempt.actor"), personOf(attempt.actor, attempt)],
        [t("requests.attempt.group"), attempt.group.name || attempt.group.id],
        [t("requests.attempt.began"), <When key="began" at={attempt.at} exact />],
        [t("requests.attempt.ended"), <When key="ended" at={attempt.ended_at} exact />],
        [t("requests.attempt.waited"), timeOf(attempt.started_after_ms)],
        [t("requests.attempt.duration"), <Duration key="duration" ms={attempt.total_ms} />],
        [t("requests.attempt.firstByte"), timeOf(sinceArrival(attempt, attempt.first_byte_ms))],
        [t("requests.attempt.firstToken"), timeOf(sinceArrival(attempt, attempt.first_token_ms))],
        [t("requests.attempt.upstreamTime"), timeOf(attempt.upstream_ms)],
        [t("requests.attempt.overhead"), timeOf(attempt.overhead_ms)],
        [
          t("requests.attempt.reserved"),
          attempt.reserved_usd > 0 ? <Money key="held" usd={attempt.reserved_usd} /> : null,
        ],
        [t("requests.attempt.servedModel"), attempt.served_model],
        [t("requests.attempt.served"), attempt.served],
        ...costFacts(attempt),
        [t("requests.attempt.program"), attempt.user_agent],
        [
          t("requests.attempt.tags"),
          tags.length === 0 ? null : (
            <Group key="tags" gap={4}>
              {tags.map(([name, value]) => (
                <code key={name} className="break">
                  {name}: {value}
                </code>
              ))}
            </Group>
          ),
        ],
        [
          t("requests.attempt.id"),
          <CopyText key="id" value={attempt.attempt_id} label={t("requests.attempt.copyId")} />,
        ],
        [
          t("requests.attempt.deployment"),
          attempt.deployment === "" ? null : <CopyText key="deployment" value={attempt.deployment} />,
        ],
        [
          t("requests.attempt.upstreamId"),
          attempt.upstream_id === null ? null : <CopyText key="up" value={attempt.upstream_id} />,
        ],
      ]}
    />
  );
}

function costFacts(attempt: AttemptDetail): readonly Fact[] {
  return [
    [
      t("requests.attempt.vendorCost"),
      attempt.vendor_cost_usd === null ? null : <Money key="vendorCost" usd={attempt.vendor_cost_usd} />,
    ],
    [
      t("requests.attempt.ownCost"),
      attempt.own_cost_usd === null ? null : <Money key="ownCost" usd={attempt.own_cost_usd} />,
    ],
    [
      t("requests.attempt.cacheSaved"),
      attempt.cache_saved_usd === null ? null : <Money key="cacheSaved" usd={attempt.cache_saved_usd} />,
    ],
    [t("requests.attempt.costSource"), attempt.cost_source === "vendor" ? t("requests.attempt.costOfVendor") : null],
    [
      t("requests.attempt.unpriced"),
      attempt.unpriced.length === 0 ? null : attempt.unpriced.map(unpricedWord).join(", "),
    ],
  ];
}

/** A usage class, or a served tier with an assumed price. */
function unpricedWord(name: string): string {
  return name in assumedWords ? assumedWords[name as keyof typeof assumedWords] : tokenClass(name).label;
}

const assumedWords = {
  tier: t("requests.attempt.assumed.tier"),
  geo: t("requests.attempt.assumed.geo"),
  speed: t("requests.attempt.assumed.speed"),
} as const;

function protocolsOf({ provider, caller_dialect: caller, upstream_dialect: upstream }: AttemptDetail): string {
  if (provider === "") return caller;
  if (upstream === "" || caller === upstream) return t("requests.attempt.asIs", { caller });
  return t("requests.attempt.translated", { caller, upstream });
}

/** Fields that the translation between the two protocols dropped. */
function WarningList({ warnings }: { readonly warnings: readonly string[] }) {
  return (
    <ul className="plain-list">
      {warnings.map((warning) => (
        <li key={warning} className="break">
          {warning}
        </li>
      ))}
    </ul>
  );
}

/** Moments on this page count from the arrival of the request. */
function sinceArrival({ started_after_ms: before }: AttemptDetail, ms: number | null): number | null {
  return ms === null ? null : before + ms;
}

function timeOf(ms: number | null) {
  return ms === null ? null : <Duration ms={ms} />;
}

function personOf(person: AttemptDetail["person"], { workspace }: AttemptDetail) {
  return person === null ? null : <PersonLink key={person.id} person={person} workspace={workspace.slug} />;
}

function BatchLink({ batch, attempt }: { readonly batch: string; readonly attempt: AttemptDetail }) {
  const search = { workspace: attempt.workspace.slug };
  return (
    <Anchor
      fz="inherit"
      renderRoot={(props) => <Link to="/batches/$batch" params={{ batch }} search={search} {...props} />}
    >
      {batch}
    </Anchor>
  );
}

function ModelLink({ attempt }: { readonly attempt: AttemptDetail }) {
  const model = modelOf(attempt);
  if (model === null || attempt.error_code === "model_not_found") return modelWords(attempt);
  return (
    <>
      <Anchor fz="inherit" renderRoot={(props) => <Link to="/models/$model" params={{ model }} {...props} />}>
        {model}
      </Anchor>
      {isFallback(attempt) && (
        <Text span fz="xs" c="dimmed">
          {t("requests.columns.requestedAs", { name: attempt.requested_model })}
        </Text>
      )}
    </>
  );
}

/** Links to the provider for administrators; other users see only the name. */
function ProviderLink({ provider }: { readonly provider: string }) {
  const { user } = useSession();
  if (provider === "") return t("requests.attempt.none");
  if (!user.administrator) return provider;
  return (
    <Anchor fz="inherit" renderRoot={(props) => <Link to="/providers/$provider" params={{ provider }} {...props} />}>
      {provider}
    </Anchor>
  );
}
