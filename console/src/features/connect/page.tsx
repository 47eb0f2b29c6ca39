import { Alert, Anchor, Button, Code, Skeleton, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { Facts } from "../../components/facts.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { Section } from "../../components/section.tsx";
import { snippetsFor } from "../../components/snippet-texts.ts";
import { SnippetTabs } from "../../components/snippets.tsx";
import { Rich, t } from "../../language/areas/connect.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { type AgentId, type AgentModels, agents, modelsFor } from "./agent-models.ts";
import { GuideDrawer } from "./guide-drawer.tsx";
import { GuideLinks } from "./guide-links.tsx";
import { type GuideId, guideTitles } from "./guides.ts";
import { ModelSelect } from "./model-select.tsx";
import { agentTexts, ciTexts, takesSignIn } from "./setup-texts.ts";

/** The placeholder in snippets when there is no model. */
const noModel = "model-name";

/** Snippets to call the gateway, with its own URL. */
export default function ConnectPage() {
  const { public_url: baseUrl } = useSession().answer;
  const [chosen, choose] = useState<string | null>(null);
  const [guide, openGuide] = useState<GuideId | null>(null);
  const models = useCall("models.list");
  const all = models.data?.data ?? [];
  const choiceFor = (agent: AgentId | null): ModelChoice => {
    const found = modelsFor(agent, all);
    return { found, model: chosen ?? found.fit[0] ?? found.others[0] ?? noModel, choose };
  };
  const set = { baseUrl, choiceFor, openGuide };
  const loading = models.data === undefined && models.error === null;
  return (
    <PageFrame title={t("connect.title")} description={t("connect.description")}>
      <Addresses baseUrl={baseUrl} />
      {loading ? (
        <Skeleton height={420} aria-busy />
      ) : (
        <>
          <Agents {...set} />
          <WithKey {...set} />
          <Section title={t("connect.ci")} description={<CiHelp />}>
            <SnippetTabs
              snippets={ciTexts(baseUrl, choiceFor("claude-code").model)}
              below={(id) => <GuideLinks snippet={id} onOpen={openGuide} />}
            />
          </Section>
        </>
      )}
      <GuideDrawer guide={guide} baseUrl={baseUrl} onClose={() => openGuide(null)} />
    </PageFrame>
  );
}

/** The models for a program, the one used in its snippets, and a setter for another. */
interface ModelChoice {
  readonly found: AgentModels;
  readonly model: string;
  readonly choose: (model: string | null) => void;
}

interface SetUpProps {
  /** The gateway's URL for callers. */
  readonly baseUrl: string;
  readonly choiceFor: (agent: AgentId | null) => ModelChoice;
  readonly openGuide: (guide: GuideId) => void;
}

function Addresses({ baseUrl }: { readonly baseUrl: string }) {
  const openai = <CopyText value={`${baseUrl}/v1`} label={t("connect.copyOpenai")} />;
  const anthropic = <CopyText value={baseUrl} label={t("connect.copyAnthropic")} />;
  const reference = (inside: React.ReactNode) => (
    <Anchor href="/docs" target="_blank" rel="noreferrer" fz="xs" underline="always">
      {inside}
    </Anchor>
  );
  return (
    <Section
      title={t("connect.addresses")}
      description={<Rich text="connect.addressesHelp" tags={{ docs: reference }} />}
    >
      <Facts
        facts={[
          { name: t("connect.openai"), value: openai, wide: true },
          { name: t("connect.anthropic"), value: anthropic, wide: true },
        ]}
      />
    </Section>
  );
}

function Agents({ baseUrl, choiceFor, openGuide }: SetUpProps) {
  const help = <Rich text="connect.agentsHelp" tags={{ code: (inside) => <Code fz="xs">{inside}</Code> }} />;
  const codex = choiceFor("codex");
  return (
    <Section title={t("connect.agents")} description={help}>
      {takesSignIn(baseUrl) ? (
        <SnippetTabs
          snippets={agentTexts(baseUrl, codex.model)}
          below={(id) => (
            <Stack gap="sm">
              {id === "codex" && <Choice agent="codex" choice={codex} />}
              <GuideLinks snippet={id} onOpen={openGuide} />
            </Stack>
          )}
        />
      ) : (
        <Alert color="yellow">{t("connect.plainHttp")}</Alert>
      )}
    </Section>
  );
}

function WithKey({ baseUrl, choiceFor, openGuide }: SetUpProps) {
  const { may } = useWorkspace();
  const [tab, setTab] = useState("curl");
  const agent = agents.find((each) => each === tab) ?? null;
  const choice = choiceFor(agent);
  const create = (
    <Button variant="default" renderRoot={(props) => <Link to="/keys" search={{ create: "1" }} {...props} />}>
      {t("connect.createKey")}
    </Button>
  );
  return (
    <Section title={t("connect.keys")} description={t("connect.keysHelp")} actions={may("member") && create}>
      <Stack gap="xs">
        <Choice agent={agent} choice={choice} />
        <SnippetTabs
          snippets={snippetsFor({ baseUrl, apiKey: null, model: choice.model })}
          tab={tab}
          onTab={setTab}
          below={(id) => <GuideLinks snippet={id} onOpen={openGuide} />}
        />
      </Stack>
    </Section>
  );
}

interface ChoiceProps {
  readonly agent: AgentId | null;
  readonly choice: ModelChoice;
}

function Choice({ agent, choice: { found, model, choose } }: ChoiceProps) {
  return (
    <ModelSelect agent={agent === null ? null : guideTitles[agent]} models={found} value={model} onChange={choose} />
  );
}

function CiHelp() {
  const toKeys = (inside: React.ReactNode) => (
    <Anchor fz="xs" underline="always" renderRoot={(props) => <Link to="/keys" {...props} />}>
      {inside}
    </Anchor>
  );
  return <Rich text="connect.ciHelp" tags={{ keys: toKeys }} />;
}
