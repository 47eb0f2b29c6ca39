import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/requests.ts";
import { NameFilter } from "./name-filter.tsx";

export function ModelFilter() {
  const models = useCall("models.list");
  return (
    <NameFilter
      name="model"
      label={t("requests.filters.model")}
      names={models.data?.data.map((model) => model.name) ?? []}
    />
  );
}
