import { missingModels } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

missingModels(speechEndpoint);
