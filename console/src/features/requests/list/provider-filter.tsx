import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/requests.ts";
import { useSession } from "../../../session/session-context.tsx";
import { NameFilter } from "./name-filter.tsx";

/** Only administrators see the list of providers; others know the names from the requests. */
export function ProviderFilter() {
  const { user } = useSession();
  const providers = useCall("providers.list", { enabled: user.administrator });
  return (
    <NameFilter
      name="provider"
      label={t("requests.filters.provider")}
      names={providers.data?.data.map((provider) => provider.id) ?? []}
    />
  );
}
