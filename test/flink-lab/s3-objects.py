"""Creates a bucket of the local S3 server that with-s3 has started.

    s3-objects.py create BUCKET
"""

import os
import sys

import boto3

client = boto3.client(
    "s3",
    endpoint_url=os.environ["FLINK_LAB_S3_ENDPOINT"],
    aws_access_key_id="lab",
    aws_secret_access_key="lab-secret",
    region_name="us-east-1",
)

command, bucket = sys.argv[1:]
if command != "create":
    sys.exit(f"unknown command {command}")
client.create_bucket(Bucket=bucket)
