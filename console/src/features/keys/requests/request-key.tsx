import { Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { bodyOf, emptyDraft, type KeyDraft } from "../key-draft.ts";
import { HomeSelect } from "../list/create-key.tsx";
import { RequestFields } from "./request-fields.tsx";
import { afterRequestChange } from "./request-routes.ts";

export const purposeMax = 1_000;

/** The form of a key request. Without a selected workspace it asks for one first. */
export function RequestKey({ onClose }: { readonly onClose: () => void }) {
  const { slug } = useWorkspace();
  const [home, setHome] = useState(slug);
  const [purpose, setPurpose] = useState("");
  const [draft, setDraft] = useState<KeyDraft>(emptyDraft);
  const send = useAct("keyRequests.create", {
    inline: true,
    invalidates: afterRequestChange,
    done: t("keys.requests.sent"),
    onDone: onClose,
  });
  return (
    <FormDrawer
      opened
      title={t("keys.requests.verb")}
      verb={t("keys.requests.send")}
      onClose={onClose}
      onSubmit={() => {
        const body = { ...bodyOf(draft), purpose: purpose.trim() };
        if (home !== null) send.mutate({ params: { workspace: home }, body });
      }}
      saving={send.isPending}
      problem={send.error}
      blocked={blockedBy(home, draft, purpose)}
    >
      <Text size="sm">{t("keys.requests.help")}</Text>
      {slug === null && (
        <HomeSelect
          value={home}
          forViewers
          onChange={(chosen) => {
            setHome(chosen);
            // A group belongs to one workspace.
            setDraft((before) => ({ ...before, group: "" }));
          }}
        />
      )}
      {home !== null && (
        <>
          <Textarea
            label={t("keys.requests.purpose")}
            description={t("keys.requests.purposeHelp")}
            required
            data-autofocus
            autosize
            minRows={2}
            maxRows={8}
            maxLength={purposeMax}
            value={purpose}
            onChange={(event) => setPurpose(event.currentTarget.value)}
            error={wrongField(send.error, "purpose")}
          />
          <RequestFields
            workspace={home}
            draft={draft}
            onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
            problem={send.error}
          />
        </>
      )}
    </FormDrawer>
  );
}

function blockedBy(home: string | null, draft: KeyDraft, purpose: string): string | null {
  if (home === null) return t("keys.create.workspaceMissing");
  if (purpose.trim() === "") return t("keys.requests.purposeMissing");
  return draft.name.trim() === "" ? t("keys.fields.nameMissing") : budgetBlockedBy(draft.budget);
}
