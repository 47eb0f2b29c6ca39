import { Badge, Button, Code, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import type { ConfigView } from "@sluice/contract";
import { IconDownload, IconFileSettings } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/settings.ts";
import { saveAs } from "./save-as.ts";

/** The config file as the gateway sees it, and everything there is, written as one. */
export function ConfigTab() {
  const config = useCall("settings.config");
  if (config.error !== null && config.data === undefined) {
    return <ProblemAlert problem={config.error} onRetry={() => void config.refetch()} />;
  }
  if (config.data === undefined) {
    return (
      <Stack gap="lg" aria-busy="true">
        <Skeleton height={180} />
        <Skeleton height={320} />
      </Stack>
    );
  }
  const view = config.data;
  return (
    <Stack gap="lg">
      {view.path === null ? <NoFile /> : <FileSection view={view} path={view.path} />}
      <AsFileSection text={view.as_file} />
    </Stack>
  );
}

function NoFile() {
  return (
    <Section title={t("settings.configFile")} flush>
      <EmptyState icon={<IconFileSettings />} title={t("settings.thereIsNoConfigFile")}>
        Everything is made in the console, on the command line or by the admin API. A file instead keeps providers,
        models, workspaces and keys where code is kept. Start the gateway with <Code>SLUICE_CONFIG=./sluice.yaml</Code>.
        The text below is a good one to begin with.
      </EmptyState>
    </Section>
  );
}

function FileSection({ view, path }: { readonly view: ConfigView; readonly path: string }) {
  const managed = view.manages.filter(({ names, more }) => names.length + more > 0);
  return (
    <>
      <Section title={t("settings.configFile")} description={t("settings.whatStandsInItIs")}>
        <Facts
          facts={[
            { name: "Path", value: <CopyText value={path} label={t("settings.copyPath")} /> },
            { name: "Last reading", value: <LastReading last={view.last_reload} /> },
          ]}
        />
        {view.last_reload?.result === "refused" && (
          <CodeBlock code={view.last_reload.detail} label={t("settings.whatIsWrongWithIt")} wrap />
        )}
      </Section>
      <Section
        title={t("settings.whatItManages")}
        description={managed.length === 0 ? t("settings.nothingYet") : undefined}
      >
        {managed.length > 0 && (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
            {managed.map(({ kind, names, more }) => (
              <div key={kind}>
                <Text fz="xs" c="dimmed" mb={4}>
                  {kind} ({names.length + more})
                </Text>
                <Group gap={6}>
                  {names.map((name) => (
                    <Badge key={name} color="gray" maw="100%">
                      {name}
                    </Badge>
                  ))}
                  {more > 0 && <Text fz="xs">{t("settings.andMore", { more })}</Text>}
                </Group>
              </div>
            ))}
          </SimpleGrid>
        )}
      </Section>
      <Section title={t("settings.itsText")} description={t("settings.asItStandsOnThe")}>
        {view.text === null ? (
          <Text fz="sm">{t("settings.itCannotBeReadNow")}</Text>
        ) : (
          <CodeBlock code={view.text} label={t("settings.textOfTheConfigFile")} maxHeight="28rem" />
        )}
      </Section>
    </>
  );
}

function LastReading({ last }: { readonly last: ConfigView["last_reload"] }) {
  if (last === null) return t("settings.atTheStart");
  return (
    <Group gap="xs">
      <StatusBadge status={last.result} />
      <When at={last.at} />
      {last.result !== "refused" && last.detail !== "" && (
        <Text fz="xs" c="dimmed" span>
          {last.detail}
        </Text>
      )}
    </Group>
  );
}

function AsFileSection({ text }: { readonly text: string }) {
  return (
    <Section
      title={t("settings.everythingAsAFile")}
      description={t("settings.allProvidersModelsWorkspaces")}
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => saveAs(new Blob([text], { type: "application/yaml" }), "sluice.yaml")}
        >
          {t("settings.download")}
        </Button>
      }
    >
      <CodeBlock code={text} label={t("settings.everythingAsAConfigFile")} maxHeight="28rem" />
    </Section>
  );
}
