import { SegmentedControl, Textarea } from "@mantine/core";
import type { KeyRequest } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useSession } from "../../../session/session-context.tsx";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { changesOf, type KeyDraft } from "../key-draft.ts";
import { RequestFacts, WithdrawButton } from "./request-details.tsx";
import { RequestFields } from "./request-fields.tsx";
import { purposeMax } from "./request-key.tsx";
import { afterRequestChange } from "./request-routes.ts";
import { draftOfRequest } from "./request-words.ts";

interface DecideRequestProps {
  readonly request: KeyRequest;
  readonly onClose: () => void;
}

/** Approves a request, as it is or with changes, or declines it with a reason. */
export function DecideRequest({ request, onClose }: DecideRequestProps) {
  const { user } = useSession();
  const [before] = useState<KeyDraft>(() => draftOfRequest(request));
  const [draft, setDraft] = useState(before);
  const [declines, setDeclines] = useState(false);
  const [reason, setReason] = useState("");
  const approve = useAct("keyRequests.approve", {
    inline: true,
    invalidates: afterRequestChange,
    done: t("keys.requests.approved"),
    onDone: onClose,
  });
  const decline = useAct("keyRequests.decline", {
    inline: true,
    invalidates: afterRequestChange,
    done: t("keys.requests.declined"),
    onDone: onClose,
  });
  const params = { workspace: request.workspace.slug, request: request.id };
  const changes = changesOf(before, draft);
  const isChanged = Object.keys(changes).length > 0;
  const act = declines ? decline : approve;
  return (
    <FormDrawer
      opened
      title={t("keys.requests.title", { name: request.requested.name })}
      verb={t(`keys.requests.${declines ? "decline" : isChanged ? "approveChanged" : "approve"}`)}
      onClose={onClose}
      onSubmit={() => {
        if (declines) decline.mutate({ params, body: { reason: reason.trim() } });
        else approve.mutate({ params, body: changes });
      }}
      saving={act.isPending}
      problem={act.error}
      openedBy={["request"]}
      blocked={blockedBy(declines, reason, draft)}
    >
      <RequestFacts request={request} />
      <SegmentedControl
        aria-label={t("keys.requests.decision")}
        className="fit"
        data={[
          { value: "approve", label: t("keys.requests.approve") },
          { value: "decline", label: t("keys.requests.decline") },
        ]}
        value={declines ? "decline" : "approve"}
        onChange={(value) => setDeclines(value === "decline")}
      />
      {declines ? (
        <Textarea
          label={t("keys.requests.reason")}
          description={t("keys.requests.reasonHelp")}
          required
          autosize
          minRows={2}
          maxRows={8}
          maxLength={purposeMax}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={wrongField(decline.error, "reason")}
        />
      ) : (
        <RequestFields
          workspace={request.workspace.slug}
          draft={draft}
          onChange={(some) => setDraft((was) => ({ ...was, ...some }))}
          problem={approve.error}
        />
      )}
      {request.requester.id === user.id && <WithdrawButton request={request} />}
    </FormDrawer>
  );
}

function blockedBy(declines: boolean, reason: string, draft: KeyDraft): string | null {
  if (declines) return reason.trim() === "" ? t("keys.requests.reasonMissing") : null;
  return draft.name.trim() === "" ? t("keys.fields.nameMissing") : budgetBlockedBy(draft.budget);
}
