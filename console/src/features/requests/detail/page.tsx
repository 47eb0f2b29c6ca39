import type { RequestDetail } from "@sluice/contract";
import { useParams } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { When } from "../../../components/figures.tsx";
import { PageFrame, type PageFrameProps } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/requests.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { outcomeHints, outcomeWords } from "../outcome.tsx";
import { OpenInPlayground } from "./open-in-playground.tsx";
import { RequestBody } from "./request-body.tsx";
import { RequestWaiting } from "./request-waiting.tsx";
import { SimilarMenu } from "./similar-menu.tsx";

const crumbs: NonNullable<PageFrameProps["crumbs"]> = [{ label: t("requests.title"), link: { to: "/requests" } }];

/** Finished requests do not change, and viewing captures adds an audit entry, so they are not refetched. */
const settledMs = 600_000;

export default function RequestPage() {
  const { request } = useParams({ from: "/requests/$request" });
  const workspace = useWorkspace();
  const shown = useCall("requests.show", {
    params: { workspace: workspace.path, request },
    enabled: !workspace.none,
    staleMs: settledMs,
  });
  if (shown.data !== undefined) return <Explained detail={shown.data} />;
  return (
    <PageFrame
      title={t("requests.one")}
      description={<CopyText value={request} label={t("requests.detail.copyId")} />}
      crumbs={crumbs}
    >
      {shown.error === null ? (
        <RequestWaiting />
      ) : (
        <ProblemAlert problem={shown.error} onRetry={() => void shown.refetch()} />
      )}
    </PageFrame>
  );
}

function Explained({ detail }: { readonly detail: RequestDetail }) {
  const last = detail.attempts.at(-1);
  return (
    <PageFrame
      title={t("requests.one")}
      crumbs={crumbs}
      badges={
        last !== undefined && (
          <StatusBadge status={last.outcome} label={outcomeWords[last.outcome]} hint={outcomeHints[last.outcome]} />
        )
      }
      description={
        <>
          <CopyText value={detail.request_id} label={t("requests.detail.copyId")} /> · <When at={detail.at} />
        </>
      }
      actions={
        last !== undefined && (
          <>
            <OpenInPlayground detail={detail} />
            <SimilarMenu attempt={last} />
          </>
        )
      }
    >
      <RequestBody detail={detail} />
    </PageFrame>
  );
}
