import { missingModels } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

missingModels(decisionsEndpoint);
