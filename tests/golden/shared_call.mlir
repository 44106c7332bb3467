module @jit__lambda_ attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %0 = func.call @_lambda_(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.add %arg0, %2 : tensor<3xf32>
    %4 = func.call @_lambda_(%3) : (tensor<3xf32>) -> tensor<3xf32>
    %5 = stablehlo.add %0, %4 : tensor<3xf32>
    return %5 : tensor<3xf32>
  }
  func.func private @_lambda_(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %0 = stablehlo.sine %arg0 : tensor<3xf32>
    %1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<3xf32>
    return %3 : tensor<3xf32>
  }
}
