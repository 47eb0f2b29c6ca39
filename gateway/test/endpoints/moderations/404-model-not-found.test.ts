import { missingModels } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

missingModels(moderationsEndpoint);
