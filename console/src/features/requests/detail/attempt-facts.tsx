import { Anchor, Group, Text } from "@mantine/core";
import type { AttemptDetail, Explanation } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { CopyText } from "../../../components/copy-button.tsx";
import { Duration, Money, When } from "../../../components/figures.tsx";
import { useSession } from "../../../session/session-context.tsx";
import { endpointWords } from "../endpoint-words.ts";
import { OutcomeCell } from "../outcome.tsx";
import { FactList } from "./fact-list.tsx";

interface AttemptFactsProps {
  readonly attempt: AttemptDetail;
  readonly failure: Explanation["failures"][number] | null;
}

const retryWords = {
  never: "Not to be tried again",
  same: "May be tried again at the same place",
  other: "May be tried elsewhere",
} as const;

export function AttemptFacts({ attempt, failure }: AttemptFactsProps) {
  const tags = Object.entries(attempt.tags);
  return (
    <FactList
      facts={[
        ["Outcome", <OutcomeCell key="outcome" row={attempt} />],
        ["Upstream's status", attempt.upstream_status],
        ["What went wrong", failure?.message],
        ["After that", failure === null ? null : retryWords[failure.retry]],
        ["Model", <ModelLink key="model" attempt={attempt} />],
        ["Provider", <ProviderLink key="provider" provider={attempt.provider} />],
        ["Upstream's model", attempt.upstream_model],
        ["Endpoint", endpointWords[attempt.endpoint] ?? attempt.endpoint],
        ["Passed through", attempt.operation],
        ["Protocols", attempt.operation === null ? protocolsOf(attempt) : null],
        [
          attempt.operation === null ? "Not carried" : "Warnings",
          attempt.warnings.length === 0 ? null : <WarningList key="warnings" attempt={attempt} />,
        ],
        ["Streamed", attempt.stream ? "Yes" : "No"],
        ["Key", <KeyLink key="key" attempt={attempt} />],
        ["Group", attempt.group.name || attempt.group.id],
        ["Began", <When key="began" at={attempt.at} exact />],
        ["Ended", <When key="ended" at={attempt.ended_at} exact />],
        ["Caller had waited", attempt.started_after_ms === null ? null : timeOf(attempt.started_after_ms)],
        ["Duration", <Duration key="duration" ms={attempt.total_ms} />],
        ["First byte", timeOf(attempt.first_byte_ms)],
        ["First token", timeOf(attempt.first_token_ms)],
        ["Upstream's time", timeOf(attempt.upstream_ms)],
        ["Gateway's own work", timeOf(attempt.overhead_ms)],
        ["Held back by limits", attempt.reserved_usd > 0 ? <Money key="held" usd={attempt.reserved_usd} /> : null],
        ["Program", attempt.user_agent],
        [
          "Tags",
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
        ["Attempt id", <CopyText key="id" value={attempt.attempt_id} label="Copy attempt id" />],
        ["Deployment", attempt.deployment === "" ? null : <CopyText key="deployment" value={attempt.deployment} />],
        ["Upstream's id", attempt.upstream_id === null ? null : <CopyText key="up" value={attempt.upstream_id} />],
      ]}
    />
  );
}

function protocolsOf({ provider, caller_dialect: caller, upstream_dialect: upstream }: AttemptDetail): string {
  if (provider === "") return caller;
  if (upstream === "" || caller === upstream) return `${caller}, passed on as it is`;
  return `${caller}, translated to ${upstream}`;
}

/** What one of the two protocols could not say: a caller that misses something looks here. */
function WarningList({ attempt: { warnings } }: { readonly attempt: AttemptDetail }) {
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

function timeOf(ms: number | null) {
  return ms === null ? null : <Duration ms={ms} />;
}

/** What calls are counted under that no model was paid for. */
const passed = "(pass-through)";

function ModelLink({ attempt }: { readonly attempt: AttemptDetail }) {
  const { model, requested_model: asked, error_code: code } = attempt;
  if (model === "" || code === "model_not_found" || model === passed) return model || asked;
  return (
    <>
      <Anchor fz="inherit" renderRoot={(props) => <Link to="/models/$model" params={{ model }} {...props} />}>
        {model}
      </Anchor>
      {asked !== model && asked !== "" && (
        <Text span fz="xs" c="dimmed">
          {" "}
          asked for {asked}
        </Text>
      )}
    </>
  );
}

/** Providers are for administrators; others read the name. */
function ProviderLink({ provider }: { readonly provider: string }) {
  const { user } = useSession();
  if (provider === "") return "None was chosen";
  if (!user.administrator) return provider;
  return (
    <Anchor fz="inherit" renderRoot={(props) => <Link to="/providers/$provider" params={{ provider }} {...props} />}>
      {provider}
    </Anchor>
  );
}

function KeyLink({ attempt: { key, workspace } }: { readonly attempt: AttemptDetail }) {
  return (
    <Anchor
      fz="inherit"
      renderRoot={(props) => (
        <Link to="/keys/$key" params={{ key: key.id }} search={{ workspace: workspace.slug }} {...props} />
      )}
    >
      {key.name || key.id}
    </Anchor>
  );
}
