import { Badge, Button, Code, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import type { ConfigView } from "@sluice/contract";
import { IconDownload, IconFileSettings } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { isMember } from "../../client/problem.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyText } from "../../components/copy-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/settings.ts";
import { settings } from "../../language/en/settings.ts";
import { saveAs } from "./save-as.ts";

/** The config file as the gateway sees it, and an export of the whole configuration as a config file. */
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
    <Section title={t("settings.config.title")} flush>
      <EmptyState icon={<IconFileSettings />} title={t("settings.config.none")}>
        <Rich text="settings.config.noneHelp" tags={{ code: (inside) => <Code>{inside}</Code> }} />
      </EmptyState>
    </Section>
  );
}

function FileSection({ view, path }: { readonly view: ConfigView; readonly path: string }) {
  const managed = view.manages.filter(({ names, more }) => names.length + more > 0);
  return (
    <>
      <Section title={t("settings.config.title")} description={t("settings.config.help")}>
        <Facts
          facts={[
            { name: t("settings.config.path"), value: <CopyText value={path} label={t("settings.config.copyPath")} /> },
            { name: t("settings.config.lastReload"), value: <LastReading last={view.last_reload} /> },
          ]}
        />
        {view.last_reload?.result === "refused" && (
          <CodeBlock code={view.last_reload.detail} label={t("settings.config.problem")} wrap />
        )}
        {view.warnings.length > 0 && (
          <>
            <Text fz="sm">{t("settings.config.warnings")}</Text>
            <CodeBlock code={view.warnings.join("\n")} label={t("settings.config.warnings")} wrap />
          </>
        )}
      </Section>
      <Section
        title={t("settings.config.manages")}
        description={managed.length === 0 ? t("settings.config.managesNothing") : undefined}
      >
        {managed.length > 0 && (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
            {managed.map(({ kind, names, more }) => (
              <div key={kind}>
                <Text fz="xs" c="dimmed" mb={4}>
                  {t("settings.config.managed", { kind: kindWords(kind), count: names.length + more })}
                </Text>
                <Group gap={6}>
                  {names.map((name) => (
                    <Badge key={name} color="gray" maw="100%">
                      {name}
                    </Badge>
                  ))}
                  {more > 0 && <Text fz="xs">{t("settings.config.andMore", { more })}</Text>}
                </Group>
              </div>
            ))}
          </SimpleGrid>
        )}
      </Section>
      <Section title={t("settings.config.text")} description={t("settings.config.textHelp")}>
        {view.text === null ? (
          <Text fz="sm">{t("settings.config.unreadable")}</Text>
        ) : (
          <CodeBlock code={view.text} label={t("settings.config.textLabel")} maxHeight="28rem" />
        )}
      </Section>
    </>
  );
}

function LastReading({ last }: { readonly last: ConfigView["last_reload"] }) {
  if (last === null) return t("settings.config.atStart");
  return (
    <Group gap="xs">
      <StatusBadge status={last.result} label={t(`settings.config.result.${last.result}`)} />
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
      title={t("settings.config.export")}
      description={t("settings.config.exportHelp")}
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          onClick={() => saveAs(new Blob([text], { type: "application/yaml" }), "sluice.yaml")}
        >
          {t("settings.config.download")}
        </Button>
      }
    >
      <CodeBlock code={text} label={t("settings.config.exportLabel")} maxHeight="28rem" />
    </Section>
  );
}

/** Unknown kinds of a newer gateway keep their name. */
function kindWords(kind: string): string {
  return isMember(settings.config.kinds, kind) ? t(`settings.config.kinds.${kind}`) : kind;
}
