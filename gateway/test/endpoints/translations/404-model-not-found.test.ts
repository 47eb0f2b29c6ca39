import { missingModels } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

missingModels(translationsEndpoint);
