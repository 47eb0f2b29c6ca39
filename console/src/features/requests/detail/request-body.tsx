import { Alert, Anchor } from "@mantine/core";
import type { RequestDetail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { Rich } from "../../../language/areas/requests.ts";
import { ChecksSection } from "../../guardrails/checks-section.tsx";
import { AttemptList } from "./attempt-list.tsx";
import { CaptureSection } from "./capture-section.tsx";
import { PlanSection } from "./plan-section.tsx";
import { SessionCard } from "./session-card.tsx";
import { Summary } from "./summary.tsx";
import { TimingSection } from "./timing-section.tsx";

/** Everything about a request, on its page and in the panel next to the list. */
export function RequestBody({ detail }: { readonly detail: RequestDetail }) {
  return (
    <>
      <CountedIn detail={detail} />
      <TimingSection attempts={detail.attempts} />
      <Summary detail={detail} />
      <SessionCard detail={detail} />
      <CaptureSection detail={detail} />
      <ChecksSection checks={detail.checks} />
      <PlanSection detail={detail} />
      <AttemptList detail={detail} />
    </>
  );
}

/** Leads from a refused request to the row of the list that counts it. */
function CountedIn({ detail: { counted_in: counted, workspace } }: { readonly detail: RequestDetail }) {
  if (counted === null) return null;
  const { request_id: request, calls } = counted;
  return (
    <Alert color="gray" variant="light">
      <Rich
        text={calls === null || calls < 2 ? "requests.detail.countedInOther" : "requests.detail.countedIn"}
        values={{ count: calls ?? 0 }}
        tags={{
          link: (inside) => (
            <Anchor
              fz="inherit"
              underline="always"
              renderRoot={(props) => (
                <Link to="/requests/$request" params={{ request }} search={{ workspace: workspace.slug }} {...props} />
              )}
            >
              {inside}
            </Anchor>
          ),
        }}
      />
    </Alert>
  );
}
