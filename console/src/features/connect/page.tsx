import { Alert, Anchor, Button, Code, Select, Skeleton, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { Facts } from "../../components/facts.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { Section } from "../../components/section.tsx";
import { Snippets, SnippetTabs } from "../../components/snippets.tsx";
import { Rich, t } from "../../language/areas/connect.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { isDemoName } from "../first-run/demo-name.ts";
import { agentTexts, ciTexts, takesSignIn } from "./setup-texts.ts";

/** Stands in the texts where no model of the gateway can be named. */
const noModel = "model-name";

/** What is pasted to call the gateway, with its own address in it. */
export default function ConnectPage() {
  const { public_url: baseUrl } = useSession().answer;
  const [chosen, choose] = useState<string | null>(null);
  const models = useCall("models.list");
  const names = (models.data?.data ?? []).filter(({ type }) => type === "chat").map(({ name }) => name);
  const model = chosen ?? names.find((name) => !isDemoName(name)) ?? names[0] ?? noModel;
  const loading = models.data === undefined && models.error === null;
  return (
    <PageFrame title={t("connect.title")} description={t("connect.description")}>
      <Addresses baseUrl={baseUrl} />
      {loading ? (
        <Skeleton height={420} aria-busy />
      ) : (
        <>
          <Agents baseUrl={baseUrl} model={model} />
          <WithKey baseUrl={baseUrl} model={model} names={names} onModel={choose} />
          <Section title={t("connect.ci")} description={<CiHelp />}>
            <SnippetTabs snippets={ciTexts(baseUrl, model)} />
          </Section>
        </>
      )}
    </PageFrame>
  );
}

interface SetUpProps {
  /** Where callers reach the gateway. */
  readonly baseUrl: string;
  readonly model: string;
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

function Agents({ baseUrl, model }: SetUpProps) {
  const help = <Rich text="connect.agentsHelp" tags={{ code: (inside) => <Code fz="xs">{inside}</Code> }} />;
  return (
    <Section title={t("connect.agents")} description={help}>
      {takesSignIn(baseUrl) ? (
        <SnippetTabs snippets={agentTexts(baseUrl, model)} />
      ) : (
        <Alert color="yellow">{t("connect.plainHttp")}</Alert>
      )}
    </Section>
  );
}

interface WithKeyProps extends SetUpProps {
  readonly names: readonly string[];
  readonly onModel: (model: string | null) => void;
}

function WithKey({ baseUrl, model, names, onModel }: WithKeyProps) {
  const { may } = useWorkspace();
  const create = (
    <Button variant="default" renderRoot={(props) => <Link to="/keys" search={{ create: "1" }} {...props} />}>
      {t("connect.createKey")}
    </Button>
  );
  return (
    <Section title={t("connect.keys")} description={t("connect.keysHelp")} actions={may("member") && create}>
      <Stack gap="xs">
        {names.length > 0 && (
          <Select
            label={t("connect.model")}
            data={names}
            value={model}
            onChange={onModel}
            allowDeselect={false}
            searchable={names.length > 8}
            limit={100}
            maw={420}
          />
        )}
        <Snippets baseUrl={baseUrl} apiKey={null} model={model} />
      </Stack>
    </Section>
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
