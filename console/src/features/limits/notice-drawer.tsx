import { Switch, TextInput } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
import { ChannelFields } from "./channel-fields.tsx";
import { emptyNotice, type NoticeDraft, noticeBlockedBy, noticeBodyOf, noticeDraftOf } from "./notice-draft.ts";
import { PercentChips } from "./percent-chips.tsx";
import { WatchFields } from "./watch-fields.tsx";

interface NoticeDrawerProps {
  /** A slug. */
  readonly workspace: string;
  /** null: a new one. */
  readonly notice: Notice | null;
  readonly onClose: () => void;
}

export function NoticeDrawer({ workspace, notice, onClose }: NoticeDrawerProps) {
  const [draft, setDraft] = useState<NoticeDraft>(() => (notice === null ? emptyNotice : noticeDraftOf(notice)));
  const home = useCall("workspaces.show", { params: { workspace } });
  const settings = { inline: true, invalidates: ["notices.list"] as const, onDone: onClose };
  const create = useAct("notices.create", { ...settings, done: t("limits.noticeMadeSendATry") });
  const update = useAct("notices.update", { ...settings, done: t("limits.noticeChanged") });
  const act = notice === null ? create : update;
  const change = (changes: Partial<NoticeDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const submit = () => {
    if (home.data === undefined) return;
    const body = noticeBodyOf(draft, home.data.id);
    if (notice === null) create.mutate({ params: { workspace }, body });
    else update.mutate({ params: { workspace, notice: notice.id }, body });
  };
  return (
    <FormDrawer
      opened
      title={notice === null ? t("limits.makeANotice") : t("limits.change2", { name: notice.name })}
      verb={notice === null ? t("limits.makeNotice") : t("limits.saveNotice")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error ?? home.error}
      blocked={home.data === undefined ? t("limits.loadingTheWorkspace") : noticeBlockedBy(draft)}
    >
      <TextInput
        label={t("limits.name")}
        placeholder={t("limits.finance")}
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
        label={t("limits.switchedOn")}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
