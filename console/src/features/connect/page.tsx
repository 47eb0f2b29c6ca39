import { Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { Facts } from "../../components/facts.tsx";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { Section } from "../../components/section.tsx";
import type { Snippet } from "../../components/snippet-texts.ts";
import { SnippetTabs } from "../../components/snippets.tsx";
import { Rich, t } from "../../language/areas/connect.ts";
import "../../styles/connect.css";
import { useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useKeyModels } from "../access/use-access.ts";
import { type AgentId, type AgentModels, modelsFor, tiersFor } from "./agent-models.ts";
import { FirstCall } from "./first-call.tsx";
import { GuideDrawer } from "./guide-drawer.tsx";
import { GuideLinks } from "./guide-links.tsx";
import type { GuideId } from "./guides.ts";
import { type ConnectKey, KeyStep } from "./key-step.tsx";
import { ModelSelect } from "./model-select.tsx";
import { ciTexts } from "./setup-texts.ts";
import { SignInSection } from "./sign-in-section.tsx";
import { ToolGrid } from "./tool-grid.tsx";
import { toolTexts } from "./tool-texts.ts";
import { tools } from "./tools.ts";

/** The placeholder in snippets when there is no model. */
const noModel = "model-name";

/** Connects a tool: choose it, create a key, copy a command, and see the first call arrive. */
export default function ConnectPage() {
  return (
    <PageFrame title={t("connect.title")} description={t("connect.description")}>
      <NeedsWorkspace why={t("connect.needsWorkspace")}>{(slug) => <Wizard key={slug} slug={slug} />}</NeedsWorkspace>
    </PageFrame>
  );
}

function Wizard({ slug }: { readonly slug: string }) {
  const { answer, user, may } = useSession();
  const { public_url: baseUrl } = answer;
  const [urlTool, setTool] = useUrlText("tool");
  const [key, setKey] = useState<ConnectKey | null>(null);
  const [chosen, choose] = useState<string | null>(null);
  const [guide, openGuide] = useState<GuideId | null>(null);
  const tool = tools.find(({ id }) => id === urlTool) ?? null;
  const agent = agentOf(tool?.id);
  const { models, loading } = useModelChoice(slug, key?.id ?? null, agent);
  const model = chosen ?? models.fit[0] ?? models.others[0] ?? noModel;
  const links = tool !== null && <GuideLinks snippet={tool.id} onOpen={openGuide} />;
  return (
    <Stack gap="lg">
      <Step place={1} title={t("connect.steps.tool")}>
        <ToolGrid
          value={tool?.id ?? null}
          onChoose={(id) => {
            setTool(id);
            choose(null);
          }}
        />
      </Step>
      {tool?.id === "ci" && (
        <Step place={2} title={t("connect.ci")} description={<CiHelp />}>
          <SnippetTabs snippets={ciTexts(baseUrl, model)} />
          {links}
        </Step>
      )}
      {tool !== null && tool.id !== "ci" && (
        <>
          {may("member", slug) && (
            <Step place={2} title={t("connect.steps.key")} description={t("connect.key.help")}>
              <KeyStep
                slug={slug}
                name={t("connect.key.name", { tool: tool.title, user: user.name })}
                value={key}
                onChange={setKey}
              />
            </Step>
          )}
          <Step place={may("member", slug) ? 3 : 2} title={t("connect.steps.run", { tool: tool.title })}>
            {loading ? (
              <Skeleton height={220} aria-busy />
            ) : (
              <Stack gap="sm">
                {tool.id === "environment" && <Addresses baseUrl={baseUrl} />}
                <ModelSelect
                  agent={agent === null ? null : tool.title}
                  models={models}
                  value={model}
                  onChange={choose}
                />
                <Parts
                  title={tool.title}
                  parts={toolTexts(tool.id, {
                    baseUrl,
                    apiKey: key?.secret ?? null,
                    model,
                    tiers: tiersFor(model, models),
                  })}
                />
                {tool.id === "cursor" && (
                  <Text size="xs" c="dimmed">
                    {t("connect.cursor.note")}
                  </Text>
                )}
                {links}
                <FirstCall
                  key={key?.id ?? ""}
                  slug={slug}
                  by={key === null ? { person: user.id } : { key: key.id }}
                  isNew={key?.secret != null}
                />
              </Stack>
            )}
          </Step>
          {agent !== null && key === null && <SignInSection agent={agent} baseUrl={baseUrl} model={model} />}
        </>
      )}
      <GuideDrawer guide={guide} baseUrl={baseUrl} onClose={() => openGuide(null)} />
    </Stack>
  );
}

function agentOf(tool: string | undefined): AgentId | null {
  return tool === "claude-code" || tool === "codex" ? tool : null;
}

/** The models for a tool, the best first; with a key only its models. */
function useModelChoice(slug: string, key: string | null, agent: AgentId | null) {
  const all = useCall("models.list");
  const callable = useKeyModels(slug, key ?? "", { callable: "true", enabled: key !== null });
  const names = key === null || callable.more !== null ? null : callable.rows;
  const served = (all.data?.data ?? []).filter(
    ({ name }) => names === null || names.some((each) => each.name === name),
  );
  return {
    models: modelsFor(agent, served) as AgentModels,
    loading: (all.data === undefined && all.error === null) || (key !== null && callable.loading),
  };
}

interface StepProps {
  readonly place: number;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
}

function Step({ place, title, description, children }: StepProps) {
  return (
    <Section title={t("connect.steps.numbered", { place, title })} description={description}>
      {children}
    </Section>
  );
}

function Parts({ title, parts }: { readonly title: string; readonly parts: Snippet["parts"] }) {
  return (
    <div className="snippets">
      {parts.map((part) => (
        <div key={part.where} className="snippet">
          <div className="snippet-where">{part.where}</div>
          <CodeBlock code={part.code} label={`${title}: ${part.where}`} />
        </div>
      ))}
    </div>
  );
}

function Addresses({ baseUrl }: { readonly baseUrl: string }) {
  return (
    <Facts
      facts={[
        {
          name: t("connect.openai"),
          value: <CopyText value={`${baseUrl}/v1`} label={t("connect.copyOpenai")} />,
          wide: true,
        },
        {
          name: t("connect.anthropic"),
          value: <CopyText value={baseUrl} label={t("connect.copyAnthropic")} />,
          wide: true,
        },
      ]}
    />
  );
}

function CiHelp() {
  const toKeys = (inside: ReactNode) => (
    <Anchor fz="xs" underline="always" renderRoot={(props) => <Link to="/keys" {...props} />}>
      {inside}
    </Anchor>
  );
  return <Rich text="connect.ciHelp" tags={{ keys: toKeys }} />;
}
