import { Skeleton, Stack } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { ManagedByFile, ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { AppliedGuardrails } from "../../guardrails/applied-guardrails.tsx";
import { StoredObjects } from "../../stored-objects/stored-objects.tsx";
import { type CreatedKey, KeyCreated } from "../key-created.tsx";
import { KeyStatus, ServiceMark } from "../key-status.tsx";
import { useKeyLock } from "../own-key.ts";
import { EditKey } from "./edit-key.tsx";
import { KeyActions } from "./key-actions.tsx";
import { KeyCallsSection } from "./key-calls-section.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { KeyLimits } from "./key-limits.tsx";
import { KeyModels } from "./key-models.tsx";
import { KeySessions } from "./key-sessions.tsx";
import { KeyUsage } from "./key-usage.tsx";

const crumbs = [{ label: t("keys.list.title"), link: { to: "/keys" } }] as const;

/** One key: its details, access and usage, and actions to change or revoke it. */
export default function KeyPage() {
  const { key: id } = useParams({ from: "/keys/$key" });
  const workspace = useWorkspace();
  const [edit, setEdit] = useUrlText("edit");
  const [made, setMade] = useState<CreatedKey | null>(null);
  const query = useCall("keys.show", { params: { workspace: workspace.path, key: id }, enabled: !workspace.none });
  const key = query.data;
  const lock = useKeyLock(key);
  // A failed refetch must not close an open form or a shown secret.
  if (query.error !== null && key === undefined) {
    return (
      <PageFrame title={t("keys.key")} crumbs={crumbs}>
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      </PageFrame>
    );
  }
  if (key === undefined) {
    return (
      <PageFrame title={t("keys.key")} crumbs={crumbs}>
        <Stack gap="lg" aria-busy="true">
          <Skeleton height={150} />
          <Skeleton height={260} />
        </Stack>
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={key.name}
      crumbs={crumbs}
      description={key.managed_by === "file" || key.state === "revoked" ? undefined : (lock ?? undefined)}
      badges={
        <>
          <KeyStatus item={key} />
          <ServiceMark item={key} />
          <ManagedByFile by={key.managed_by} />
        </>
      }
      actions={<KeyActions item={key} lock={lock} onEdit={() => setEdit("1")} onRotated={setMade} />}
    >
      <ManagedByFileNote by={key.managed_by} />
      <KeyFacts item={key} />
      <KeyUsage item={key} />
      {workspace.may("admin") && <KeySessions item={key} />}
      <KeyLimits item={key} />
      <StoredObjects workspace={key.workspace.slug} of={key.id} />
      <KeyModels item={key} />
      {key.state !== "revoked" && (
        <AppliedGuardrails workspace={key.workspace.slug} of={{ group: key.group.id, key: key.id }} />
      )}
      {key.state === "active" && <KeyCallsSection item={key} />}
      {edit !== "" && key.state !== "revoked" && <EditKey item={key} lock={lock} onClose={() => setEdit("")} />}
      <KeyCreated
        made={made}
        title={made === null ? "" : t("keys.rotate.done", { name: made.key.name })}
        onClose={() => setMade(null)}
      />
    </PageFrame>
  );
}
