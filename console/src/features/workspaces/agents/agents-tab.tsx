import { NativeSelect, Skeleton, Stack, Text } from "@mantine/core";
import { useCall } from "../../../api/use-call.ts";
import { When } from "../../../components/figures.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/agents.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { PreviewSection } from "./preview-section.tsx";
import { SettingsEditor } from "./settings-editor.tsx";
import { VersionsSection } from "./versions-section.tsx";

/** Settings of the coding agents of each group: an editor, the versions, and a preview for one person. */
export default function AgentsTab({ workspace }: { readonly workspace: string }) {
  const { may } = useSession();
  const [chosen, choose] = useUrlText("group");
  const groups = useCall("groups.list", { params: { workspace } });
  const all = groups.data?.data ?? [];
  const group = all.find(({ name }) => name === chosen) ?? all.find(({ name }) => name === "default") ?? all[0];
  const params = { workspace, group: group?.id ?? "" };
  const query = useCall("agents.settings", { params, enabled: group !== undefined });
  const problem = groups.error ?? query.error;
  const now = query.data;
  const mayChange = may("administrator");
  return (
    <Stack gap="lg">
      <Section
        title={t("agents.title")}
        description={mayChange ? t("agents.help") : t("agents.helpReadOnly")}
        actions={
          <NativeSelect
            aria-label={t("agents.group")}
            value={group?.name ?? ""}
            onChange={(event) => choose(event.currentTarget.value)}
            data={all.map(({ name }) => name)}
          />
        }
      >
        {problem !== null ? (
          <ProblemAlert problem={problem} onRetry={() => void query.refetch()} />
        ) : now === undefined ? (
          <Skeleton height={320} aria-busy="true" />
        ) : (
          <Stack gap="md">
            <Standing version={now.version} by={now.updated_by} at={now.updated_at} none={now.settings === null} />
            <SettingsEditor key={params.group} params={params} now={now} mayChange={mayChange} />
          </Stack>
        )}
      </Section>
      {now !== undefined && <VersionsSection params={params} now={now} mayChange={mayChange} />}
      {/* Rendered together with the settings above, so that it does not move when they are loaded. */}
      {(now !== undefined || problem !== null) && <PreviewSection workspace={workspace} />}
    </Stack>
  );
}

interface StandingProps {
  readonly version: number | null;
  readonly by: string | null;
  readonly at: number | null;
  readonly none: boolean;
}

function Standing({ version, by, at, none }: StandingProps) {
  if (none) return <Text size="sm">{t("agents.none")}</Text>;
  return (
    <Text size="sm">
      {version === null
        ? t("agents.versionUnknown")
        : t("agents.versionBy", { version, by: by || t("agents.byNobody") })}{" "}
      {at !== null && <When at={at} />}
    </Text>
  );
}
