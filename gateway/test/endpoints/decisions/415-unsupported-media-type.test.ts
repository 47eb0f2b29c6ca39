import { otherMediaTypes } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

otherMediaTypes(decisionsEndpoint);
