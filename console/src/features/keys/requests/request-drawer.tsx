import { Loader } from "@mantine/core";
import type { KeyRequest } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { Drawer } from "../../../components/drawer.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useSession } from "../../../session/session-context.tsx";
import type { CreatedKey } from "../key-created.tsx";
import { DecideRequest } from "./decide-request.tsx";
import { RequestDetails } from "./request-details.tsx";

interface RequestDrawerProps {
  readonly workspace: string;
  readonly id: string;
  readonly onClose: () => void;
  readonly onCollected: (made: CreatedKey) => void;
}

/** A key request: for admins the form to decide it while it is pending, otherwise its details. */
export function RequestDrawer({ workspace, id, onClose, onCollected }: RequestDrawerProps) {
  const { may } = useSession();
  const { data, error } = useCall("keyRequests.show", { params: { workspace, request: id } });
  if (data?.state === "pending" && may("admin", data.workspace.slug)) {
    return <DecideRequest key={data.id} request={data} onClose={onClose} />;
  }
  return (
    <Drawer opened onClose={onClose} title={titleOf(data)} size="lg" asks={false}>
      {error !== null && <ProblemAlert problem={error} />}
      {data === undefined ? (
        error === null && <Loader size="sm" />
      ) : (
        <RequestDetails request={data} onCollected={onCollected} />
      )}
    </Drawer>
  );
}

function titleOf(request: KeyRequest | undefined): string {
  return request === undefined
    ? t("keys.requests.one")
    : t("keys.requests.title", { name: (request.granted ?? request.requested).name });
}
