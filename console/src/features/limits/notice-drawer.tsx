import { Switch, TextInput } from "@mantine/core";
import type { Notice } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
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
  const create = useAct("notices.create", { ...settings, done: "Notice made. Send a try to see it arrive." });
  const update = useAct("notices.update", { ...settings, done: "Notice changed." });
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
      title={notice === null ? "Make a notice" : `Change ${notice.name}`}
      verb={notice === null ? "Make notice" : "Save notice"}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error ?? home.error}
      blocked={home.data === undefined ? "Loading the workspace." : noticeBlockedBy(draft)}
    >
      <TextInput
        label="Name"
        placeholder="Finance"
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
        label="Switched on"
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
