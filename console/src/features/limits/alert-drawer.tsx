import { Switch, TextInput } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
import { type AlertDraft, alertBlockedBy, alertBodyOf, alertDraftOf, emptyAlert } from "./alert-draft.ts";
import { ChannelFields } from "./channel-fields.tsx";
import { PercentChips } from "./percent-chips.tsx";
import { WatchFields } from "./watch-fields.tsx";

interface AlertDrawerProps {
  /** A slug. */
  readonly workspace: string;
  /** null: a new alert. */
  readonly alert: Notice | null;
  readonly onClose: () => void;
}

export function AlertDrawer({ workspace, alert, onClose }: AlertDrawerProps) {
  const [draft, setDraft] = useState<AlertDraft>(() => (alert === null ? emptyAlert : alertDraftOf(alert)));
  const home = useCall("workspaces.show", { params: { workspace } });
  const settings = { inline: true, invalidates: ["notices.list"] as const, onDone: onClose };
  const create = useAct("notices.create", { ...settings, done: t("limits.alert.created") });
  const update = useAct("notices.update", { ...settings, done: t("limits.alert.saved") });
  const act = alert === null ? create : update;
  const change = (changes: Partial<AlertDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const submit = () => {
    if (home.data === undefined) return;
    const body = alertBodyOf(draft, home.data.id);
    if (alert === null) create.mutate({ params: { workspace }, body });
    else update.mutate({ params: { workspace, notice: alert.id }, body });
  };
  return (
    <FormDrawer
      opened
      title={alert === null ? t("limits.alert.create") : t("limits.alert.editTitle", { name: alert.name })}
      verb={alert === null ? t("limits.alert.create") : t("limits.alert.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error ?? home.error}
      blocked={home.data === undefined ? t("limits.alert.loading") : alertBlockedBy(draft)}
    >
      <TextInput
        label={t("limits.name")}
        placeholder={t("limits.alert.namePlaceholder")}
        required
        data-autofocus
        maxLength={256}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={wrongField(act.error, "name")}
      />
      <WatchFields workspace={workspace} draft={draft} onChange={change} problem={act.error} />
      <PercentChips
        value={draft.percent}
        onChange={(percent) => change({ percent })}
        error={wrongField(act.error, "percent")}
      />
      <ChannelFields draft={draft} onChange={change} problem={act.error} />
      <Switch
        label={t("limits.alert.enabled")}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
